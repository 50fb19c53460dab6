// What a panel says about one instant, in words. The numbers are the API's; only the wording is made here.
import type { OpState, Points, Windows } from "../../api/generated.ts";
import { between } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { formatClock, formatDuration, formatInterval, formatSlowdown, formatSpan } from "../shared/format.ts";
import { zoneName } from "../shared/zone.ts";
import type { PanelModel } from "./frame.ts";
import { rowAt } from "./grid.ts";

export interface Reading {
  /** The time it is about. */
  readonly when: string;
  /** "3.1x (2.8-3.4)", with "slow" or "host busy" before it, or why there is none: "learning", "too few", "not measured". */
  readonly slowdown: string;
  /** For the colour; null when there is no slowdown. */
  readonly factor: number | null;
  /** Hanging or failing now. */
  readonly bad: boolean;
  /** One line: median, usual, n. */
  readonly line: string;
  /** The tooltip's lines. */
  readonly tip: readonly string[];
}

/** The factor of an op and its interval: of the whole stretch while it is slow, as the sentence has it, else of its window. */
export function factorNow(state: OpState): readonly [number | null, number | null, number | null] {
  const whole = state.stretch_slowdown ?? null;
  if (state.state === "slow" && whole !== null) return [whole, state.stretch_lower ?? null, state.stretch_upper ?? null];
  return [state.slowdown, state.slowdown_lower, state.slowdown_upper];
}

/** The probe's own word on the op; its latencies are of the last window. `unknown`: why nobody knows how it is now; null: it is known. */
export function readingNow(state: OpState | null, window: Ms | null, spanWord: string, unknown: string | null): Reading {
  const when = window === null ? spanWord : `${spanWord} ${formatSpan(window)}`;
  if (state === null) return { when, slowdown: unknown ?? "n/a", factor: null, bad: false, line: "no live state", tip: [] };
  const line = `median ${formatDuration(state.median)}, usual ${formatDuration(state.baseline)}`;
  if (unknown !== null) return { when, slowdown: unknown, factor: null, bad: false, line, tip: [] };
  const [factor, lower, upper] = factorNow(state);
  // While an operation hangs, the window's numbers are those of before: the state comes first.
  const bad = state.state === "hung" || state.state === "failing";
  const word = state.partly === true ? "partly slow " : mark(state.state === "slow", state.host_busy);
  return {
    when,
    slowdown: bad || factor === null ? state.state : `${word}${formatSlowdown(factor, lower, upper)}`,
    factor: bad ? null : factor,
    bad,
    line,
    tip: [],
  };
}

/** The window and the operation at `t`. */
export function readingAt(model: PanelModel, t: UnixMs): Reading {
  const windows = model.series?.windows ?? null;
  const row = windows === null ? null : rowAt(windows, t, model.window);
  const start = (Math.floor(t / model.window) * model.window) as UnixMs;
  const when = `${formatInterval(start, model.window)} ${zoneName(start)}`;
  if (windows === null || row === null) {
    const [slowdown, line] = whyNothing(model, start);
    return { when, slowdown, factor: null, bad: false, line, tip: [line, ...nearest(model, t)] };
  }
  return atRow(model, windows, row, t, when);
}

/** Why an interval has no window. */
function whyNothing(model: PanelModel, start: UnixMs): [string, string] {
  const kind = model.cells.find((cell) => cell.start === start)?.kind;
  if (kind === "open") return ["hung", "nothing ended: an operation is still open"];
  if (kind === "future") return ["not yet", "nothing read yet"];
  return ["not measured", "no operation was due: nothing was watching"];
}

function atRow(model: PanelModel, windows: Windows, row: number, t: UnixMs, when: string): Reading {
  const median = windows.q50[row] ?? null;
  const factor = windows.slowdown[row] ?? null;
  const n = `n ${windows.n_seen[row]} of ${windows.n_due[row]} due`;
  const filling = (windows.start[row] ?? 0) + model.window > model.asOf ? ["still filling"] : [];
  if (median === null) {
    const line = `${n} ended well: too few for a median`;
    return { when, slowdown: "too few", factor: null, bad: false, line, tip: [line, ...filling, ...nearest(model, t)] };
  }
  const baseline = windows.baseline[row] ?? null;
  const spread = `${formatDuration(windows.q50_lower[row] ?? null)} - ${formatDuration(windows.q50_upper[row] ?? null)}`;
  const usual = `usual ${baseline === null ? "not known yet" : formatDuration(baseline)}`;
  return {
    when,
    slowdown: factor === null ? "learning" : mark(windows.slow[row] === true, windows.host_busy[row] === true) + interval(windows, row, factor),
    factor,
    bad: false,
    line: `median ${formatDuration(median)}, ${usual}, ${n}`,
    tip: [
      ...(windows.host_busy[row] === true ? ["the probing host was busy: this says nothing about the storage"] : []),
      `median ${formatDuration(median)} (${spread})`,
      usual,
      n,
      `slowest ${formatDuration(windows.max[row] ?? null)}`,
      ...filling,
      ...nearest(model, t),
    ],
  };
}

const interval = (windows: Windows, row: number, factor: number): string =>
  formatSlowdown(factor, windows.slowdown_lower[row] ?? null, windows.slowdown_upper[row] ?? null);

/** What colour alone must not say. */
function mark(slow: boolean, host_busy: boolean): string {
  if (!slow) return "";
  return host_busy ? "host busy " : "slow ";
}

/** The operation due nearest to `t`, if one is drawn near enough to be meant. */
function nearest(model: PanelModel, t: UnixMs): string[] {
  const reach = (model.to - model.from) / 60;
  let best: [Points, number] | null = null;
  let distance = reach;
  for (const points of [model.series?.points ?? null, model.live]) {
    if (points === null) continue;
    const i = closest(points.due, t);
    const due = points.due[i];
    if (due === undefined) continue;
    const away = Math.abs(between(due, t));
    if (away <= distance) [best, distance] = [[points, i], away];
  }
  if (best === null) return [];
  const [points, i] = best;
  const outcome = points.outcome[i] === "ok" ? "" : `, ${points.outcome[i]}`;
  const due = points.due[i] ?? t;
  const waited = `a user waited ${formatDuration(points.response[i] ?? null)}`;
  const took = points.outcome[i] === "ok" ? `service time ${formatDuration(points.service[i] ?? null)}${points.held_up[i] === true ? `, held up: ${waited}` : ""}` : `${waited}${outcome}`;
  return [`operation due ${formatClock(due, true)}: ${took}`];
}

/** Index of the value nearest to `t` in an ascending list; -1 for an empty one. */
export function closest(values: readonly UnixMs[], t: UnixMs): number {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? Infinity) < t) low = middle + 1;
    else high = middle;
  }
  const before = values[low - 1];
  const at = values[low];
  if (before !== undefined && at !== undefined && t - before < Math.abs(at - t)) return low - 1;
  return values.length === 0 ? -1 : low;
}
