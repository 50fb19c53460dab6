// Where the brackets of events stand on a time axis, and which of their labels have room.
import type { UnixMs } from "../../api/time.ts";

export interface Bracket {
  readonly begin: UnixMs;
  /** null: it goes on, or nobody saw its end. */
  readonly end: UnixMs | null;
}

export interface BracketPlace {
  /** Shares of the axis, 0 to 1. */
  readonly left: number;
  readonly right: number;
  /** It began before the axis does. */
  readonly cut: boolean;
  /** It ends after the axis does, or not at all. */
  readonly open: boolean;
}

/** CSS pixels between two labels. */
const GAP = 4;

/** null: nothing of it lies on the axis. */
export function bracketed({ begin, end }: Bracket, from: UnixMs, to: UnixMs): BracketPlace | null {
  if (begin > to || (end !== null && end < from)) return null;
  const share = (t: UnixMs): number => Math.min(1, Math.max(0, (t - from) / (to - from)));
  return { left: share(begin), right: share(end ?? to), cut: begin < from, open: end === null || end > to };
}

/** Left edges of labels, from pairs of where a label belongs and how wide it is, in order; null: there is no room for it. */
export function labelPlaces(labels: readonly (readonly [left: number, width: number])[], axis: number): (number | null)[] {
  let taken = -GAP;
  return labels.map(([at, width]) => {
    const left = Math.max(0, Math.min(at, axis - width));
    if (left < taken + GAP) return null;
    taken = left + width;
    return left;
  });
}
