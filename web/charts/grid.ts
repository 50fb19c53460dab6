// Windows on the page's time grid: every interval in view has a cell, also those the store knows nothing of.
import type { Windows } from "../api/model.ts";
import { after, floorTo } from "../api/time.ts";
import type { Ms, UnixMs } from "../api/time.ts";

/**
 * known: has a slowdown; learning: a median but no baseline yet; few: too few operations ended well for a
 * median; missing: nothing was due (no probe ran); future: begins after what the server has read.
 */
export type CellKind = "known" | "learning" | "few" | "missing" | "future";

export interface GridCell {
  readonly start: UnixMs;
  readonly kind: CellKind;
  /** Index into the windows, null where there is none. */
  readonly row: number | null;
  /** The interval is not over yet. */
  readonly filling: boolean;
}

function kindOf(windows: Windows, row: number): CellKind {
  if (windows.median[row] == null) return "few";
  return windows.slowdown[row] == null ? "learning" : "known";
}

/** Cells of all intervals that touch from..to. */
export function gridCells(windows: Windows, from: UnixMs, to: UnixMs, window: Ms, asOf: UnixMs): GridCell[] {
  const rows = new Map<UnixMs, number>(windows.start.map((start, i) => [start, i]));
  const cells: GridCell[] = [];
  for (let start = floorTo(from, window); start < to; start = after(start, window)) {
    const row = rows.get(start) ?? null;
    const filling = after(start, window) > asOf;
    const kind = row !== null ? kindOf(windows, row) : filling ? "future" : "missing";
    cells.push({ start, kind, row, filling });
  }
  return cells;
}

/** The row of the window that `t` lies in, null where there is none. */
export function rowAt(windows: Windows, t: UnixMs, window: Ms): number | null {
  const row = windows.start.indexOf(floorTo(t, window));
  return row < 0 ? null : row;
}
