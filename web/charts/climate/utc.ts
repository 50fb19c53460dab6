// Dates of climates: days in UTC, as all sentences about them have them.
import { unixMs } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";

const DAY = 86_400_000;
const DAYS = [1, 2, 7, 14, 28];
const DAY_PX = 70;
const MONTH_PX = 58;
const MONTHS = [1, 2, 3, 6, 12, 24, 60, 120];

/** `2017-08-04`. */
export const utcDay = (t: UnixMs): string => new Date(t).toISOString().slice(0, 10);

/** `2017-08-04 12:31`. */
export const utcMinute = (t: UnixMs): string => new Date(t).toISOString().slice(0, 16).replace("T", " ");

/** `2017-07-17 .. 2017-08-04`, or one day: as the terminal has it. */
export const utcDays = (first: UnixMs, last: UnixMs): string =>
  utcDay(first) === utcDay(last) ? utcDay(first) : `${utcDay(first)} .. ${utcDay(last)}`;

export interface Tick {
  readonly at: UnixMs;
  readonly label: string;
}

/** Begins of days, else of months, within a span that is `width` CSS pixels wide: as many as their labels have room. */
export function utcTicks(from: UnixMs, to: UnixMs, width: number): Tick[] {
  const days = DAYS.find((n) => (to - from) / (n * DAY) <= width / DAY_PX);
  const ticks: Tick[] = [];
  if (days !== undefined) {
    const step = days * DAY;
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) ticks.push({ at: unixMs(t), label: utcDay(unixMs(t)) });
    return ticks;
  }
  const first = new Date(from);
  const wide = (to - from) / (30.44 * DAY);
  const months = MONTHS.find((n) => wide / n <= Math.max(1, width / MONTH_PX)) ?? 240;
  const begin = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months;
  for (let month = begin; ; month += months) {
    const at = unixMs(new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1));
    if (at > to) return ticks;
    if (at >= from) ticks.push({ at, label: utcDay(at).slice(0, months % 12 === 0 ? 4 : 7) });
  }
}
