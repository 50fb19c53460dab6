// From the API's JSON to the page's model. What does not fit is refused with its place, never guessed.
import { OPS, SEVERITIES } from "./model.ts";
import type { About, CellCounts, Cells, Op, OpSeries, OpState, Points, Series, Severity, Stretch, Target, Windows } from "./model.ts";
import type { Chunk } from "./tail.ts";
import { durationFromNs, instantFromNs } from "./time.ts";
import type { Ms, UnixMs } from "./time.ts";

/** The server sent something else than the contract says. */
export class ShapeError extends Error {
  constructor(where: string, expected: string) {
    super(`the server's answer does not fit: ${where} should be ${expected}`);
    this.name = "ShapeError";
  }
}

type Json = Record<string, unknown>;

export function record(value: unknown, where: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new ShapeError(where, "an object");
  return value as Json;
}

export function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) throw new ShapeError(where, "a list");
  return value;
}

export function text(value: unknown, where: string): string {
  if (typeof value !== "string") throw new ShapeError(where, "a text");
  return value;
}

export function number(value: unknown, where: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new ShapeError(where, "a number");
  return value;
}

export const orNull = <T>(value: unknown, read: (v: unknown) => T): T | null =>
  value === null || value === undefined ? null : read(value);

const duration = (value: unknown, where: string): Ms | null => orNull(value, (v) => durationFromNs(number(v, where)));
export const factor = (value: unknown, where: string): number | null => orNull(value, (v) => number(v, where));

export function column<T>(table: Json, name: string, where: string, read: (v: unknown, at: string) => T): T[] {
  const at = `${where}.${name}`;
  return list(table[name], at).map((v) => read(v, at));
}

export const instant = (value: unknown, where: string): UnixMs => instantFromNs(number(value, where));
const asOp = (value: unknown): Op | null => OPS.find((op) => op === value) ?? null;
const asSeverity = (value: unknown): Severity => SEVERITIES.find((s) => s === value) ?? "unknown";

function opState(value: unknown, where: string): OpState | null {
  const raw = record(value, where);
  const op = asOp(raw["op"]);
  if (op === null) return null; // an op this page does not know yet is left to the sentence
  return {
    op,
    state: text(raw["state"], `${where}.state`),
    slowdown: factor(raw["slowdown"], `${where}.slowdown`),
    slowdownLower: factor(raw["slowdown_lower"], `${where}.slowdown_lower`),
    slowdownUpper: factor(raw["slowdown_upper"], `${where}.slowdown_upper`),
    latest: duration(raw["latest_ns"], `${where}.latest_ns`),
    median: duration(raw["median_ns"], `${where}.median_ns`),
    baseline: duration(raw["baseline_ns"], `${where}.baseline_ns`),
    inflight: duration(raw["inflight_ns"], `${where}.inflight_ns`),
    inflightDue: orNull(raw["inflight_due_ns"], (v) => instant(v, `${where}.inflight_due_ns`)),
    nSeen: factor(raw["n_seen"], `${where}.n_seen`),
    nDue: factor(raw["n_due"], `${where}.n_due`),
    hostBusy: raw["host_busy"] === true,
  };
}

function target(value: unknown, where: string): Target {
  const raw = record(value, where);
  const state = record(raw["state"] ?? {}, `${where}.state`);
  const ops = list(state["ops"] ?? [], `${where}.state.ops`);
  return {
    host: text(raw["host"], `${where}.host`),
    target: text(raw["target"], `${where}.target`),
    slug: text(raw["slug"], `${where}.slug`),
    sentence: text(raw["sentence"], `${where}.sentence`),
    severity: asSeverity(raw["severity"]),
    kind: text(raw["kind"], `${where}.kind`),
    brief: text(raw["brief"], `${where}.brief`),
    slowdown: factor(raw["slowdown"], `${where}.slowdown`),
    period: duration(state["period_ns"], `${where}.state.period_ns`),
    window: duration(state["window_ns"], `${where}.state.window_ns`),
    notes: list(state["notes"] ?? [], `${where}.state.notes`).map((n) => text(n, `${where}.state.notes`)),
    heard: orNull(state["written_ns"], (v) => instant(v, `${where}.state.written_ns`)),
    asOf: instant(raw["as_of_ns"], `${where}.as_of_ns`),
    ops: ops.map((o, i) => opState(o, `${where}.state.ops[${i}]`)).filter((o) => o !== null),
  };
}

export const decodeTargets = (value: unknown): Target[] =>
  list(value, "targets").map((t, i) => target(t, `targets[${i}]`));

export function decodePoints(value: unknown, where: string): Points {
  const raw = record(value, where);
  const points = {
    due: column(raw, "due_ns", where, instant),
    response: column(raw, "response_ns", where, duration),
    service: column(raw, "service_ns", where, duration),
    outcome: column(raw, "outcome", where, text),
    heldUp: column(raw, "held_up", where, (v) => v === true),
  };
  const n = points.due.length;
  if (Object.values(points).some((one) => one.length !== n)) {
    throw new ShapeError(where, "columns of one length");
  }
  return points;
}

function counts(value: unknown, where: string): CellCounts {
  const raw = record(value, where);
  return {
    time: column(raw, "time", where, number),
    latency: column(raw, "latency", where, number),
    count: column(raw, "count", where, number),
  };
}

function cells(value: unknown, where: string): Cells {
  const raw = record(value, where);
  return {
    origin: instant(raw["origin_ns"], `${where}.origin_ns`),
    step: durationFromNs(number(raw["step_ns"], `${where}.step_ns`)),
    edges: column(raw, "edges_ns", where, (v, at) => durationFromNs(number(v, at))),
    ok: counts(raw["ok"], `${where}.ok`),
    failed: counts(raw["failed"], `${where}.failed`),
    nWithoutLatency: number(raw["n_without_latency"], `${where}.n_without_latency`),
  };
}

function windows(value: unknown, where: string): Windows {
  const raw = record(value, where);
  return {
    start: column(raw, "start_ns", where, instant),
    nDue: column(raw, "n_due", where, number),
    nSeen: column(raw, "n_seen", where, number),
    median: column(raw, "q50_ns", where, duration),
    medianLower: column(raw, "q50_lower_ns", where, duration),
    medianUpper: column(raw, "q50_upper_ns", where, duration),
    q90: column(raw, "q90_ns", where, duration),
    max: column(raw, "max_ns", where, duration),
    baseline: column(raw, "baseline_ns", where, duration),
    slowdown: column(raw, "slowdown", where, factor),
    slowdownLower: column(raw, "slowdown_lower", where, factor),
    slowdownUpper: column(raw, "slowdown_upper", where, factor),
    slow: column(raw, "slow", where, (v) => v === true),
    hostBusy: column(raw, "host_busy", where, (v) => v === true),
  };
}

function stretch(value: unknown, where: string): Stretch {
  const raw = record(value, where);
  return {
    start: instant(raw["start_ns"], `${where}.start_ns`),
    end: instant(raw["end_ns"], `${where}.end_ns`),
    slowdown: factor(raw["slowdown"], `${where}.slowdown`),
  };
}

function opSeries(value: unknown, where: string): OpSeries {
  const raw = record(value, where);
  return {
    points: orNull(raw["points"], (v) => decodePoints(v, `${where}.points`)),
    cells: orNull(raw["cells"], (v) => cells(v, `${where}.cells`)),
    nPoints: factor(raw["n_points"], `${where}.n_points`),
    stretches: list(raw["stretches"], `${where}.stretches`).map((one, i) => stretch(one, `${where}.stretches[${i}]`)),
    windows: windows(raw["windows"], `${where}.windows`),
  };
}

export function decodeSeries(value: unknown): Series {
  const raw = record(value, "series");
  const ops = new Map<Op, OpSeries>();
  for (const [name, series] of Object.entries(record(raw["ops"], "series.ops"))) {
    const op = asOp(name);
    if (op !== null) ops.set(op, opSeries(series, `series.ops.${name}`));
  }
  return {
    host: text(raw["host"], "series.host"),
    target: text(raw["target"], "series.target"),
    since: instant(raw["since_ns"], "series.since_ns"),
    until: instant(raw["until_ns"], "series.until_ns"),
    asOf: instant(raw["as_of_ns"], "series.as_of_ns"),
    window: durationFromNs(number(raw["window_ns"], "series.window_ns")),
    ops,
  };
}

/** New points of the feed: an object from op to columns, as in the series. */
export function decodeChunk(value: unknown): Chunk {
  const raw = record(value, "points");
  const ops = new Map<Op, Points>();
  for (const [name, points] of Object.entries(record(raw["ops"], "points.ops"))) {
    const op = asOp(name);
    if (op !== null) ops.set(op, decodePoints(points, `points.ops.${name}`));
  }
  return { asOf: instant(raw["as_of_ns"], "points.as_of_ns"), ops };
}

export function decodeAbout(value: unknown): About {
  const raw = record(value, "about");
  return {
    version: text(raw["version"], "about.version"),
    store: text(raw["store"], "about.store"),
    words: new Map(
      Object.entries(record(raw["op_words"], "about.op_words")).flatMap(([name, word]) => {
        const op = asOp(name);
        return op === null ? [] : [[op, text(word, `about.op_words.${name}`)] as const];
      }),
    ),
    slowAt: number(raw["slow_at"], "about.slow_at"),
    slowLowerAt: number(raw["slow_lower_at"], "about.slow_lower_at"),
    baselineTrailing: durationFromNs(number(raw["baseline_trailing_ns"], "about.baseline_trailing_ns")),
  };
}

export const decodeLines = (value: unknown): string[] => list(value, "trouble").map((v) => text(v, "trouble"));
