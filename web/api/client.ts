// Targets over time, and pictures of them.
import type { Target } from "./generated.ts";
import { ApiError, get, paramsOf, urlOf } from "./get.ts";
import { wordsOf } from "./model.ts";
import type { Op, TargetKey } from "./model.ts";
import { durationNsText, nsText } from "./time.ts";
import type { Ms, UnixMs } from "./time.ts";

export interface SeriesQuery extends TargetKey {
  readonly since: UnixMs;
  /** null: up to now. */
  readonly until: UnixMs | null;
  readonly window: Ms;
  /** false: windows only, which is cheap enough to ask for every few seconds. */
  readonly points: boolean;
}

const spanOf = (since: UnixMs, until: UnixMs | null): { since_ns: string; until_ns: string | null } => ({
  since_ns: nsText(since),
  until_ns: until === null ? null : nsText(until),
});

export const seriesParams = ({ host, target, since, until, window, points }: SeriesQuery): URLSearchParams =>
  paramsOf({ host, target, ...spanOf(since, until), window_ns: durationNsText(window), points: points ? null : false });

/** A panel as a file; `more` has the form. */
export const panelUrl = (query: Omit<SeriesQuery, "points">, op: Op, zone: string | null, more: Readonly<Record<string, string>>): string =>
  urlOf("api/panel", paramsOf({ ...Object.fromEntries(seriesParams({ ...query, points: true })), op, ...more, zone }));

export interface FigureQuery {
  readonly kind: string;
  /** null: all hosts. */
  readonly host: string | null;
  readonly target: string;
  readonly since: UnixMs;
  readonly until: UnixMs;
  readonly zone: string | null;
  readonly dark: boolean;
  /** Inches. */
  readonly width: number;
  readonly format: string;
  readonly scale: number;
}

export function figureUrl({ kind, host, target, since, until, zone, dark, width, format, scale }: FigureQuery): string {
  const look = { theme: dark ? "dark" : "light", width: width.toFixed(2), scale: scale.toFixed(2) };
  return urlOf("api/figure", paramsOf({ kind, target, format, host, ...spanOf(since, until), ...look, zone }));
}

/** `zone`: the sentences' times are in it, so that they agree with the time axes; null: the server's. */
export const fetchTargets = (zone: string | null, signal: AbortSignal): Promise<Target[]> => get("api/targets", paramsOf({ brief: true, zone }), signal);

/** All targets in the reader's time zone, or in the server's if it does not know that one; `utc`: the reader wants UTC. */
export async function firstTargets(utc: boolean, signal: AbortSignal): Promise<{ zone: string | null; targets: Target[] }> {
  const own: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = utc ? "UTC" : (own ?? null);
  try {
    return { zone, targets: await fetchTargets(zone, signal) };
  } catch (error) {
    if (zone === null || !(error instanceof ApiError) || error.status !== 400) throw error;
    return { zone: null, targets: await fetchTargets(null, signal) };
  }
}

/** The plural noun of each operation. */
export const fetchWords = async (signal: AbortSignal): Promise<ReadonlyMap<Op, string>> => wordsOf(await get("api/about", paramsOf({}), signal));
