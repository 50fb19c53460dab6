// Where the marks of a climate's pane are, in CSS pixels: pure functions, nothing is drawn here.
import type { Segment } from "../../api/generated.ts";
import type { DrawnClimate, DrawnSeries } from "../../api/climate.ts";
import type { UnixMs } from "../../api/time.ts";
import type { Area, Place } from "../shared/place.ts";

/** The top of every pane: the best run of all time is 1, and a little air (as in plots/climate_figure.py). */
const HIGHEST = 1.05;
/** Intervals are at least so wide, or nobody would see them. */
const NARROWEST = 2;

const round = (v: number): number => Math.round(v * 10) / 10;

export const xAt = (climate: DrawnClimate, area: Area, t: UnixMs): number =>
  round(area.left + (area.width * (t - climate.since)) / (climate.until - climate.since));

export const yAt = (area: Area, value: number): number => round(area.top + area.height * (1 - value / HIGHEST));

/** Places of all runs; null where the value is missing. */
export const dots = (climate: DrawnClimate, series: DrawnSeries, area: Area): (Place | null)[] =>
  series.times.map((t, i) => {
    const value = series.values[i] ?? null;
    return value === null ? null : { x: xAt(climate, area, t), y: yAt(area, value) };
  });

/** One path for all dots: strokes without length, which round caps make dots. */
export const dotsPath = (points: readonly (Place | null)[]): string =>
  points.map((p) => (p === null ? "" : `M${p.x} ${p.y}h0`)).join("");

/** Left edge and width of a span of time, cut at the area's edges. */
export function span(climate: DrawnClimate, area: Area, from: UnixMs, to: UnixMs): { x: number; width: number } {
  const inside = (x: number): number => Math.min(area.left + area.width, Math.max(area.left, x));
  const [left, right] = [inside(xAt(climate, area, from)), inside(xAt(climate, area, to))];
  const width = Math.max(NARROWEST, right - left);
  return { x: round(Math.min(left, area.left + area.width - width)), width: round(width) };
}

/** The run nearest to a place; null where none is known. */
export function nearestDot(points: readonly (Place | null)[], x: number, y: number): number | null {
  let best: number | null = null;
  let distance = Infinity;
  points.forEach((p, i) => {
    if (p === null) return;
    const d = (p.x - x) ** 2 + (p.y - y) ** 2;
    if (d < distance) [best, distance] = [i, d];
  });
  return best;
}

/** The next run with a value, from `at` in a direction; stays where there is none. */
export function nextRun(series: DrawnSeries, at: number, direction: -1 | 1): number {
  for (let i = at + direction; i >= 0 && i < series.values.length; i += direction) {
    if ((series.values[i] ?? null) !== null) return i;
  }
  return at;
}

/** The first run after the next change, or the last change before; stays where there is none. */
export function nextChange(series: DrawnSeries, at: number, direction: -1 | 1): number {
  const now = series.times[at] ?? null;
  if (now === null) return at;
  const dates = series.changes.map((one) => one.at);
  const date = direction === 1 ? dates.find((t) => t > now) : dates.filter((t) => t < now).pop();
  const index = date === undefined ? -1 : series.times.findIndex((t) => t >= date);
  return index === -1 ? at : index;
}

/** The segment that a run belongs to. */
export function segmentAt(series: DrawnSeries, index: number): Segment | null {
  const t = series.times[index];
  return t === undefined ? null : (series.segments.find((one) => one.start <= t && t <= one.end) ?? null);
}
