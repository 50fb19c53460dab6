// Where columns and instants are: pure functions from numbers to pixels. Time goes up, rates go right.
import { ms, unixMs } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";

/** CSS pixels of a column that does little, and between two columns. */
export const NARROWEST = 15;
export const GAP = 3;

/** A column's place: `left` and `width` in CSS pixels, without the gap; `perPixel`: operations per second. */
export interface Slot {
  readonly left: number;
  readonly width: number;
  readonly perPixel: number;
}

/** How many columns have room, so that some are left for those who do much. */
export const roomFor = (width: number): number => Math.max(1, Math.min(60, Math.floor((0.65 * width) / (NARROWEST + GAP))));

/**
 * Columns side by side, `width` CSS pixels in all. One scale for all of them: a column is as wide as its largest rate,
 * and no narrower than can be seen. `own`: all are equally wide, each with a scale of its own.
 */
export function slots(most: readonly number[], width: number, own: boolean): Slot[] {
  const room = Math.max(most.length * 4, width - most.length * GAP);
  let wide = most.map((_, i) => i);
  let left = room;
  let scale = 0;
  if (!own) {
    // Columns that would be too narrow get the least width; the others share what is left, until none is too narrow.
    for (;;) {
      const sum = wide.reduce((total, i) => total + (most[i] ?? 0), 0);
      scale = sum > 0 ? left / sum : 0;
      const narrow = wide.filter((i) => (most[i] ?? 0) * scale < NARROWEST);
      if (narrow.length === 0 || narrow.length === wide.length) break;
      left -= narrow.length * NARROWEST;
      wide = wide.filter((i) => !narrow.includes(i));
    }
  }
  const kept = new Set(wide);
  let x = 0;
  return most.map((rate, i) => {
    const even = room / most.length;
    const size = own ? even : kept.has(i) && scale > 0 ? rate * scale : Math.min(NARROWEST, even);
    const slot = { left: x, width: size, perPixel: own || scale === 0 ? Math.max(rate, 1e-9) / size : 1 / scale };
    x += size + GAP;
    return slot;
  });
}

/** The column at `x`; null: between two. */
export function slotAt(all: readonly Slot[], x: number): number | null {
  const found = all.findIndex((slot) => x >= slot.left - GAP / 2 && x < slot.left + slot.width + GAP / 2);
  return found < 0 ? null : found;
}

/** The time that is seen: `from` at the bottom, `to` at the top. */
export interface TimeSpan {
  readonly from: UnixMs;
  readonly to: UnixMs;
}

export const lengthOf = (span: TimeSpan): Ms => ms(span.to - span.from);

/** CSS pixels from the top. */
export const yOf = (span: TimeSpan, height: number, t: UnixMs): number => ((span.to - t) / (span.to - span.from)) * height;

export const timeAt = (span: TimeSpan, height: number, y: number): UnixMs => unixMs(span.to - (y / height) * (span.to - span.from));

const SHORTEST = 1000;

/** A span within what was recorded, at least a second long. */
export function held(span: TimeSpan, recorded: TimeSpan): TimeSpan {
  const whole = recorded.to - recorded.from;
  const length = Math.min(whole, Math.max(SHORTEST, span.to - span.from));
  const from = Math.min(Math.max(span.from, recorded.from), recorded.to - length);
  return { from: unixMs(from), to: unixMs(from + length) };
}

/** Closer (`factor` below 1) or further, with `about` at the same place. */
export function zoomed(span: TimeSpan, about: UnixMs, factor: number, recorded: TimeSpan): TimeSpan {
  const length = Math.min(recorded.to - recorded.from, Math.max(SHORTEST, (span.to - span.from) * factor));
  const share = (about - span.from) / (span.to - span.from);
  const from = about - share * length;
  return held({ from: unixMs(from), to: unixMs(from + length) }, recorded);
}

/** Later by a share of what is seen. */
export function moved(span: TimeSpan, share: number, recorded: TimeSpan): TimeSpan {
  const by = share * (span.to - span.from);
  return held({ from: unixMs(span.from + by), to: unixMs(span.to + by) }, recorded);
}
