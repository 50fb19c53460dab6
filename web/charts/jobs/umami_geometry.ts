// Where the marks of an UMAMI row are, in CSS pixels: pure functions, nothing is drawn here.
import type { UmamiRow } from "../../api/generated.ts";
import type { UmamiFigure } from "../../api/jobs.ts";
import type { Area, Place } from "../shared/place.ts";

/** Of the width of both: runs 4, box 1. */
export const RUNS_SHARE = 0.8;

const round = (v: number): number => Math.round(v * 100) / 100;

/** Height of a value of a row, its range filling the area. */
export const yOf = (row: UmamiRow, area: Area, value: number): number =>
  round(area.top + area.height * (1 - (value - row.low) / (row.high - row.low)));

export const xOf = (figure: UmamiFigure, area: Area, index: number): number => {
  const time = figure.times[index] ?? figure.since;
  return round(area.left + (area.width * (time - figure.since)) / (figure.until - figure.since));
};

/** Places of all runs; null where the value is missing. */
export const places = (figure: UmamiFigure, row: UmamiRow, area: Area): (Place | null)[] =>
  row.values.map((v, i) => (v === null ? null : { x: xOf(figure, area, i), y: yOf(row, area, v) }));

/** A line through the places, with a gap where one is missing and before those that `gaps` names. */
export function linePath(points: readonly (Place | null)[], gaps: readonly number[] = []): string {
  let path = "";
  let open = false;
  points.forEach((point, i) => {
    if (point !== null) path += `${open && !gaps.includes(i) ? "L" : "M"}${point.x} ${point.y}`;
    open = point !== null;
  });
  return path;
}

/** Crosses at the places, without the one of the job. */
export const crossPath = (points: readonly (Place | null)[], job: number, size: number): string =>
  points
    .map((p, i) => {
      if (p === null || i === job) return "";
      const [l, r, t, b] = [round(p.x - size), round(p.x + size), round(p.y - size), round(p.y + size)];
      return `M${l} ${t}L${r} ${b}M${l} ${b}L${r} ${t}`;
    })
    .join("");

/** Half the size of a cross: as large as runs are apart, so that crosses do not fuse. */
export function crossSize(points: readonly (Place | null)[]): number {
  const apart = points.slice(1).flatMap((p, i) => (p === null ? [] : [p.x - (points[i]?.x ?? p.x)]));
  const usual = apart.sort((a, b) => a - b)[Math.floor(apart.length / 4)] ?? 8;
  return Math.min(3.2, Math.max(1.7, 0.4 * usual));
}

/** A star with five points. */
export function starPath(at: Place, radius: number): string {
  const points: string[] = [];
  for (let i = 0; i < 10; i += 1) {
    const angle = (Math.PI * i) / 5 - Math.PI / 2;
    const r = i % 2 === 0 ? radius : radius * 0.42;
    points.push(`${round(at.x + r * Math.cos(angle))} ${round(at.y + r * Math.sin(angle))}`);
  }
  return `M${points.join("L")}Z`;
}

/** The run whose value is known and that lies nearest to `x`; null where none is known. */
export function nearest(points: readonly (Place | null)[], x: number): number | null {
  let best: number | null = null;
  let distance = Infinity;
  points.forEach((p, i) => {
    if (p === null || Math.abs(p.x - x) >= distance) return;
    best = i;
    distance = Math.abs(p.x - x);
  });
  return best;
}

/** The next run with a known value, from `at` in a direction; stays where there is none. */
export function step(row: UmamiRow, at: number, direction: -1 | 1): number {
  for (let i = at + direction; i >= 0 && i < row.values.length; i += direction) {
    if (row.values[i] !== null) return i;
  }
  return at;
}
