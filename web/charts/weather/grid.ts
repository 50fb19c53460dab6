// Windows on the page's time grid: every interval in view has a cell, also those the store knows nothing of.
import type { Windows } from "../../api/generated.ts";
import { after, floorTo } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";

/**
 * known: has a slowdown; learning: a median but no baseline yet; few: too few operations ended well for a
 * median; open: nothing has ended because an operation hangs; missing: nothing was due (no probe ran);
 * future: not over yet and not enough for a median.
 */
export type CellKind = "known" | "learning" | "few" | "open" | "missing" | "future";

/** An operation that has not ended: when it was due, and how old it was when last heard of. */
export interface OpenOperation {
  readonly due: UnixMs;
  readonly age: Ms;
}

export interface GridCell {
  readonly start: UnixMs;
  readonly kind: CellKind;
  /** Index into the windows, null where there is none. */
  readonly row: number | null;
  /** The interval is not over yet. */
  readonly filling: boolean;
}

function kindOf(windows: Windows, row: number): CellKind {
  if (windows.q50[row] == null) return "few";
  return windows.slowdown[row] == null ? "learning" : "known";
}

/** Whether the open operation was open in start..end. */
const openIn = (open: OpenOperation | null, start: UnixMs, end: UnixMs): boolean =>
  open !== null && open.due < end && after(open.due, open.age) > start;

export interface Span {
  readonly from: UnixMs;
  readonly to: UnixMs;
  readonly window: Ms;
  /** The windows were read at this instant. */
  readonly asOf: UnixMs;
}

/** Cells of all intervals that touch from..to. */
export function gridCells(windows: Windows, span: Span, open: OpenOperation | null): GridCell[] {
  const rows = new Map<UnixMs, number>(windows.start.map((start, i) => [start, i]));
  const cells: GridCell[] = [];
  for (let start = floorTo(span.from, span.window); start < span.to; start = after(start, span.window)) {
    const end = after(start, span.window);
    const row = rows.get(start) ?? null;
    const filling = end > span.asOf;
    let kind: CellKind = row === null ? "missing" : kindOf(windows, row);
    if (kind === "missing" || kind === "few") {
      if (openIn(open, start, end)) kind = "open";
      else if (filling) kind = "future";
    }
    cells.push({ start, kind, row, filling });
  }
  return cells;
}

/** The row of the window that `t` lies in, null where there is none. */
export function rowAt(windows: Windows, t: UnixMs, window: Ms): number | null {
  const row = windows.start.indexOf(floorTo(t, window));
  return row < 0 ? null : row;
}
