// What the page knows, in its own units: instants UnixMs, durations Ms. Missing is null, never zero.
import type { Ms, UnixMs } from "./time.ts";

export const OPS = ["data_read", "data_write", "md_create", "md_stat", "md_read", "md_delete"] as const;
export type Op = (typeof OPS)[number];

export const SEVERITIES = ["ok", "info", "unknown", "slow", "hung"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The probe's live state of one op (its own window, usually the last minute). */
export interface OpState {
  readonly op: Op;
  readonly state: string;
  readonly slowdown: number | null;
  readonly slowdownLower: number | null;
  readonly slowdownUpper: number | null;
  readonly latest: Ms | null;
  readonly median: Ms | null;
  readonly baseline: Ms | null;
  /** Age and due instant of an operation that has not ended. */
  readonly inflight: Ms | null;
  readonly inflightDue: UnixMs | null;
  readonly nSeen: number | null;
  readonly nDue: number | null;
  readonly hostBusy: boolean;
}

export interface Target {
  readonly host: string;
  readonly target: string;
  readonly slug: string;
  readonly sentence: string;
  readonly severity: Severity;
  /** What the verdict is: usual, learning, host_busy, slow, lost, failing, hung, stopped, stale, damaged. */
  readonly kind: string;
  /** The sentence in two or three words. */
  readonly brief: string;
  /** Of the slowest operation that is slow, else of all; null: none has a number. */
  readonly slowdown: number | null;
  readonly period: Ms | null;
  /** The window that the probe's own numbers are over. */
  readonly window: Ms | null;
  readonly notes: readonly string[];
  /** When the probe last wrote its state; null when there is none. */
  readonly heard: UnixMs | null;
  /** The server's clock when it answered. */
  readonly asOf: UnixMs;
  readonly ops: readonly OpState[];
}

/**
 * Single operations, ascending by due. `response` is null while an operation has not ended; `heldUp`: it ended well,
 * but could not begin when it was due.
 */
export interface Points {
  readonly due: UnixMs[];
  readonly response: (Ms | null)[];
  readonly service: (Ms | null)[];
  readonly outcome: string[];
  readonly heldUp: boolean[];
}

/** Exact counts on a grid of time bins and latency bins: the same operations as points would be, none left out. */
export interface Cells {
  /** Start of time bin 0; bin i starts at origin + i * step. */
  readonly origin: UnixMs;
  readonly step: Ms;
  /** Latency bin j spans edges[j] .. edges[j + 1]. */
  readonly edges: readonly Ms[];
  readonly ok: CellCounts;
  /** Operations that failed, timed out or were skipped. */
  readonly failed: CellCounts;
  /** Operations without a latency (still open when last heard of). */
  readonly nWithoutLatency: number;
}

export interface CellCounts {
  readonly time: readonly number[];
  readonly latency: readonly number[];
  readonly count: readonly number[];
}

/** Windows that hold at least one row, ascending by start. */
export interface Windows {
  readonly start: readonly UnixMs[];
  readonly nDue: readonly number[];
  readonly nSeen: readonly number[];
  readonly median: readonly (Ms | null)[];
  readonly medianLower: readonly (Ms | null)[];
  readonly medianUpper: readonly (Ms | null)[];
  readonly q90: readonly (Ms | null)[];
  readonly max: readonly (Ms | null)[];
  readonly baseline: readonly (Ms | null)[];
  readonly slowdown: readonly (number | null)[];
  readonly slowdownLower: readonly (number | null)[];
  readonly slowdownUpper: readonly (number | null)[];
  readonly slow: readonly boolean[];
  /** Slow only because the probing host was busy: says nothing about the storage. */
  readonly hostBusy: readonly boolean[];
}

/** A slow stretch, as `iosonde events` has it: its begin does not depend on the range. */
export interface Stretch {
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly slowdown: number | null;
}

export interface OpSeries {
  readonly points: Points | null;
  readonly cells: Cells | null;
  /** null: not asked for. */
  readonly nPoints: number | null;
  readonly stretches: readonly Stretch[];
  readonly windows: Windows;
}

export interface Series {
  readonly host: string;
  readonly target: string;
  readonly since: UnixMs;
  readonly until: UnixMs;
  /** The server's clock before it read the store: rows that became visible later are not in here. */
  readonly asOf: UnixMs;
  readonly window: Ms;
  readonly ops: ReadonlyMap<Op, OpSeries>;
}

/** What the server says of itself. */
export interface About {
  readonly version: string;
  readonly store: string;
  /** The plural noun of each op, as the sentences say it. */
  readonly words: ReadonlyMap<Op, string>;
  readonly slowAt: number;
  readonly slowLowerAt: number;
  readonly baselineTrailing: Ms;
}

export interface TargetKey {
  readonly host: string;
  readonly target: string;
}

export const sameTarget = (a: TargetKey | null, b: TargetKey | null): boolean =>
  a !== null && b !== null && a.host === b.host && a.target === b.target;
