// Numbers and times as people read them. Formatting only: nothing here is computed from data.
import type { Ms, UnixMs } from "../../api/time.ts";
import { wallTime, zoneName } from "./zone.ts";

/** Three significant digits with a unit: 41.2 µs, 4.12 ms, 1.20 s, 2 min 5 s. */
export function formatDuration(d: Ms | null): string {
  if (d === null) return "n/a";
  if (d >= 119_950) {
    const s = Math.round(d / 1000);
    if (s < 7200) return `${Math.floor(s / 60)} min ${s % 60} s`;
    return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  }
  if (d >= 999.5) return `${digits(d / 1000)} s`;
  if (d >= 0.9995) return `${digits(d)} ms`;
  if (d >= 0.0009995) return `${digits(d * 1000)} µs`;
  return `${Math.round(d * 1e6)} ns`;
}

function digits(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  if (value >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

/** A tick of the latency axis: as short as it can be. */
export function formatTick(d: Ms): string {
  const units: [number, string][] = [
    [1000, "s"],
    [1, "ms"],
    [0.001, "µs"],
  ];
  for (const [size, unit] of units) {
    if (d >= size * 0.999) return `${Number((d / size).toPrecision(3))} ${unit}`;
  }
  return `${Number((d * 1e6).toPrecision(3))} ns`;
}

/** A slowdown without its interval: 0.9x, 3.1x, 12x. */
export const formatFactor = (f: number): string => `${f < 9.95 ? f.toFixed(1) : f.toFixed(0)}x`;

const bare = (f: number): string => (f < 9.95 ? f.toFixed(1) : f.toFixed(0));

/** "3.1x (2.8-3.4)"; without an interval the bare factor; "n/a" when unknown. */
export function formatSlowdown(point: number | null, lower: number | null, upper: number | null): string {
  if (point === null) return "n/a";
  if (lower === null || upper === null) return formatFactor(point);
  return `${formatFactor(point)} (${bare(lower)}-${bare(upper)})`;
}

/** How long ago, coarse: "just now", "4 s ago", "3 min ago", "2 h ago", "5 d ago". */
export function formatAge(age: Ms): string {
  const s = Math.max(0, Math.round(age / 1000));
  if (s < 1) return "just now";
  if (s < 90) return `${s} s ago`;
  if (s < 5400) return `${Math.round(s / 60)} min ago`;
  if (s < 129_600) return `${Math.round(s / 3600)} h ago`;
  return `${Math.round(s / 86_400)} d ago`;
}

/** A window length or range: "10 s", "5 min", "1 h". */
export function formatSpan(d: Ms): string {
  const s = d / 1000;
  if (s < 1) return `${Number(d.toPrecision(3))} ms`;
  if (s < 60 || s % 60 !== 0) return `${Number(s.toPrecision(3))} s`;
  if (s < 3600 || s % 3600 !== 0) return `${s / 60} min`;
  if (s < 172_800 || s % 86_400 !== 0) return `${s / 3600} h`;
  return `${s / 86_400} d`;
}

const two = (n: number): string => String(n).padStart(2, "0");

/** Wall time in the page's zone, 14:05 or 14:05:10. */
export function formatClock(t: UnixMs, withSeconds: boolean): string {
  const { hour, minute, second } = wallTime(t);
  return `${two(hour)}:${two(minute)}${withSeconds ? `:${two(second)}` : ""}`;
}

/** Date in the page's zone, 2026-07-01. */
export function formatDate(t: UnixMs): string {
  const { year, month, day } = wallTime(t);
  return `${year}-${two(month)}-${two(day)}`;
}

/** Date, time and zone: 2026-07-01 14:05 UTC+2. */
export const formatInstant = (t: UnixMs, withSeconds = false): string => `${formatDate(t)} ${formatClock(t, withSeconds)} ${zoneName(t)}`;

/** "14:05:00–14:05:10", the seconds only when they matter. */
export function formatInterval(start: UnixMs, length: Ms): string {
  const fine = length % 60_000 !== 0;
  return `${formatClock(start, fine)}–${formatClock((start + length) as UnixMs, fine)}`;
}

/** A chance, as the terminal prints it: 0.016, 0.0009, 4e-27, < 1e-99. */
export function formatChance(p: number): string {
  if (p < 1e-99) return "< 1e-99";
  const short = Number(p.toPrecision(p < 1e-3 ? 1 : 2));
  if (short >= 1e-4) return String(short);
  const [digit, exponent] = short.toExponential(0).split("e-");
  return `${digit}e-${(exponent ?? "").padStart(2, "0")}`;
}
