// Two kinds of time, never mixed: an instant (UnixMs) and a length of time (Ms).
// The API speaks integer nanoseconds; they become milliseconds in get.ts and nowhere else.
// A double holds an instant in milliseconds to about 0.2 us, far below what a screen can show.

declare const unit: unique symbol;

/** An instant: milliseconds since the Unix epoch, UTC. */
export type UnixMs = number & { readonly [unit]: "ms since the Unix epoch" };

/** A length of time in milliseconds. */
export type Ms = number & { readonly [unit]: "ms" };

/** An instant of a figure's data: seconds since the Unix epoch. */
export type UnixS = number & { readonly [unit]: "s since the Unix epoch" };

const NS_PER_MS = 1e6;

/** Milliseconds of an instant or of a length of time. */
export const msFromNs = (ns: number): number => ns / NS_PER_MS;
export const instantOf = (t: UnixS): UnixMs => (t * 1000) as UnixMs;

/** The instant as the API's integer, rounded down to a microsecond (a double cannot carry the nanoseconds). */
export const nsText = (t: UnixMs): string => (BigInt(Math.floor(t * 1000)) * 1000n).toString();

/** The duration as the API's integer. */
export const durationNsText = (d: Ms): string => BigInt(Math.round(d * NS_PER_MS)).toString();

export const ms = (value: number): Ms => value as Ms;
export const unixMs = (value: number): UnixMs => value as UnixMs;
export const seconds = (value: number): Ms => (value * 1000) as Ms;
export const minutes = (value: number): Ms => (value * 60_000) as Ms;
export const hours = (value: number): Ms => (value * 3_600_000) as Ms;

export const between = (from: UnixMs, to: UnixMs): Ms => (to - from) as Ms;
export const after = (t: UnixMs, d: Ms): UnixMs => (t + d) as UnixMs;
export const before = (t: UnixMs, d: Ms): UnixMs => (t - d) as UnixMs;

/** Start of the multiple of `step` (counted from the epoch, as the server counts windows) that `t` lies in. */
export const floorTo = (t: UnixMs, step: Ms): UnixMs => (Math.floor(t / step) * step) as UnixMs;
