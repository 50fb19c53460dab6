// Requests to the server that served this page. No other address is ever contacted.
import { decodeAbout, decodeSeries, decodeTargets, record } from "./decode.ts";
import type { About, Op, Series, Target, TargetKey } from "./model.ts";
import { durationNsText, nsText } from "./time.ts";
import type { Ms, UnixMs } from "./time.ts";

/** The server refused, or could not be reached. `message` is fit for people. */
export class ApiError extends Error {
  readonly status: number | null;
  constructor(message: string, status: number | null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
  }
}

export interface SeriesQuery extends TargetKey {
  readonly since: UnixMs;
  /** null: up to now. */
  readonly until: UnixMs | null;
  readonly window: Ms;
  /** false: windows only, which is cheap enough to ask for every few seconds. */
  readonly points: boolean;
}

export const keyParams = (key: TargetKey): URLSearchParams => new URLSearchParams({ host: key.host, target: key.target });

export function seriesUrl(query: SeriesQuery): string {
  const params = keyParams(query);
  params.set("since_ns", nsText(query.since));
  if (query.until !== null) params.set("until_ns", nsText(query.until));
  params.set("window_ns", durationNsText(query.window));
  if (!query.points) params.set("points", "false");
  return `api/series?${params.toString()}`;
}

/** A panel as a file; `more` has the form. */
export function panelUrl(query: Omit<SeriesQuery, "points">, op: Op, zone: string | null, more: Readonly<Record<string, string>>): string {
  const params = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(seriesUrl({ ...query, points: true }).split("?")[1])), op, ...more });
  if (zone !== null) params.set("zone", zone);
  return `api/panel?${params.toString()}`;
}

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

export function figureUrl(query: FigureQuery): string {
  const params = new URLSearchParams({ kind: query.kind, target: query.target, format: query.format });
  if (query.host !== null) params.set("host", query.host);
  params.set("since_ns", nsText(query.since));
  params.set("until_ns", nsText(query.until));
  params.set("theme", query.dark ? "dark" : "light");
  params.set("width", query.width.toFixed(2));
  params.set("scale", query.scale.toFixed(2));
  if (query.zone !== null) params.set("zone", query.zone);
  return `api/figure?${params.toString()}`;
}

/** The server's own words about a refusal, as one sentence. */
export function refusalText(body: unknown, status: number): string {
  try {
    const error = record(record(body, "body")["error"], "error");
    const parts = [error["what"], error["expected"], error["try"]].filter((p) => typeof p === "string" && p !== "");
    if (parts.length > 0) return parts.join("; ");
  } catch {
    // Not the API's error form (a proxy's page, perhaps): the status is all there is to say.
  }
  return `the server answered ${status}`;
}

export async function getJson(url: string, signal: AbortSignal): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, { signal, headers: { accept: "application/json" } });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ApiError("the iosonde server does not answer; is `iosonde serve` still running?", null);
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(refusalText(body, response.status), response.status);
  return body;
}

/** `zone`: the sentences' times are in it, so that they agree with the time axes; null: the server's. */
export const fetchTargets = async (zone: string | null, signal: AbortSignal): Promise<Target[]> =>
  decodeTargets(await getJson(`api/targets?brief=true${zone === null ? "" : `&${new URLSearchParams({ zone }).toString()}`}`, signal));

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

export const fetchSeries = async (query: SeriesQuery, signal: AbortSignal): Promise<Series> =>
  decodeSeries(await getJson(seriesUrl(query), signal));

export const fetchAbout = async (signal: AbortSignal): Promise<About> => decodeAbout(await getJson("api/about", signal));
