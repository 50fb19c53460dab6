// Ticks of the time axis: round local times, as many as there is room for.
import { after, ms, unixMs } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { formatClock, formatDate } from "./format.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 15, 20, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 20, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 4, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28, 91, 364].map((n) => n * DAY),
].map(ms);

/** The smallest round step that gives at most `most` ticks. */
export function tickStep(from: UnixMs, to: UnixMs, most: number): Ms {
  return STEPS.find((step) => (to - from) / step <= most) ?? STEPS[STEPS.length - 1] ?? ms(DAY);
}

/** Multiples of `step` since local midnight within from..to. */
export function timeTicks(from: UnixMs, to: UnixMs, step: Ms): UnixMs[] {
  const midnight = new Date(from);
  midnight.setHours(0, 0, 0, 0);
  const ticks: UnixMs[] = [];
  if (step >= DAY) {
    // Days are counted on the calendar: not all of them have 24 hours.
    for (const day = midnight; day.getTime() <= to; day.setDate(day.getDate() + Math.round(step / DAY))) {
      if (day.getTime() >= from) ticks.push(unixMs(day.getTime()));
    }
    return ticks;
  }
  const first = Math.ceil((from - midnight.getTime()) / step);
  for (let t = unixMs(midnight.getTime() + first * step); t <= to; t = after(t, step)) ticks.push(t);
  return ticks;
}

/** Labels: seconds only when they matter, midnight as its date. */
export function tickLabels(ticks: readonly UnixMs[], step: Ms): string[] {
  return ticks.map((t) => {
    const d = new Date(t);
    const midnight = d.getHours() === 0 && d.getMinutes() === 0 && d.getSeconds() === 0;
    return midnight ? formatDate(t).slice(5) : formatClock(t, step < MINUTE);
  });
}
