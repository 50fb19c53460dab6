// Whose wall clock the page's times are: this browser's, or UTC.
import { unixMs } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";

let utc = false;

/** From now on all times are UTC, or this browser's. */
export function showUtc(on: boolean): void {
  utc = on;
}

export const showsUtc = (): boolean => utc;

export interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

export function wallTime(t: UnixMs): WallTime {
  const d = new Date(t);
  return utc
    ? { year: d.getUTCFullYear(), month: d.getUTCMonth() + 1, day: d.getUTCDate(), hour: d.getUTCHours(), minute: d.getUTCMinutes(), second: d.getUTCSeconds() }
    : { year: d.getFullYear(), month: d.getMonth() + 1, day: d.getDate(), hour: d.getHours(), minute: d.getMinutes(), second: d.getSeconds() };
}

/** The midnight at or before `t`, `days` later. Not all days have 24 hours. */
export function midnight(t: UnixMs, days = 0): UnixMs {
  const { year, month, day } = wallTime(t);
  return unixMs(utc ? Date.UTC(year, month - 1, day + days) : new Date(year, month - 1, day + days).getTime());
}

/** What is ahead of UTC at `t`: "UTC", "UTC+2", "UTC-3:30". */
export function zoneName(t: UnixMs): string {
  const ahead = utc ? 0 : -new Date(t).getTimezoneOffset();
  if (ahead === 0) return "UTC";
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
  return `UTC${ahead < 0 ? "-" : "+"}${hours}${minutes === 0 ? "" : `:${String(minutes).padStart(2, "0")}`}`;
}
