// Ticks of the time axis: round times of the page's zone, as many as there is room for.
import { after, ms, unixMs } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { formatClock, formatDate } from "./format.ts";
import { midnight, wallTime } from "./zone.ts";

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

/** Multiples of `step` since midnight within from..to. */
export function timeTicks(from: UnixMs, to: UnixMs, step: Ms): UnixMs[] {
  const begin = midnight(from);
  const ticks: UnixMs[] = [];
  if (step >= DAY) {
    // Days are counted on the calendar: not all of them have 24 hours.
    for (let days = 0; midnight(from, days) <= to; days += Math.round(step / DAY)) {
      if (midnight(from, days) >= from) ticks.push(midnight(from, days));
    }
    return ticks;
  }
  const first = Math.ceil((from - begin) / step);
  for (let t = unixMs(begin + first * step); t <= to; t = after(t, step)) ticks.push(t);
  return ticks;
}

/** Labels: seconds only when they matter, midnight as its date; dates with their year where there are only dates. */
export function tickLabels(ticks: readonly UnixMs[], step: Ms): string[] {
  return ticks.map((t) => {
    const { hour, minute, second } = wallTime(t);
    if (step >= DAY) return formatDate(t);
    return hour + minute + second === 0 ? formatDate(t).slice(5) : formatClock(t, step < MINUTE);
  });
}
