// What changed for good: what is drawn, joined with the numbers and sentences of what it shows.
import type { Change, Climate, ClimateColumn, ClimatePane, Segment } from "./generated.ts";
import { get, paramsOf } from "./get.ts";
import { instantOf, nsText, unixMs } from "./time.ts";
import type { UnixMs } from "./time.ts";

/** Which jobs; null: all. `since` and `until` are days (UTC), the second not part of it. */
export interface ClimateQuery {
  readonly fileSystem: string | null;
  readonly motif: string | null;
  readonly since: string | null;
  readonly until: string | null;
}

/** A run as it can be asked for. */
export interface RunName {
  readonly job: string;
  readonly run: string;
}

/** All runs of a file system and motif. */
export interface DrawnSeries {
  readonly file_system: string;
  readonly motif: string;
  readonly times: readonly UnixMs[];
  readonly values: readonly (number | null)[];
  readonly runs: readonly RunName[];
  readonly segments: readonly Segment[];
  readonly changes: readonly (Change & { readonly rose: boolean })[];
}

/** A stretch of days of one climate; `climate`: number of its name, so that one that came back looks the same. */
export interface DrawnBand {
  readonly name: string;
  readonly climate: number;
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly sentence: string;
}

/** A file system; `series` follows the motifs of the climate, null: too few runs. */
export interface Place {
  readonly file_system: string;
  readonly label: string;
  readonly sentence: string;
  readonly bands: readonly DrawnBand[];
  readonly series: readonly (DrawnSeries | null)[];
}

export interface DrawnClimate extends Pick<Climate, "sentence" | "changes" | "events"> {
  readonly motifs: readonly string[];
  readonly places: readonly Place[];
  readonly since: UnixMs;
  readonly until: UnixMs;
  readonly caption: readonly string[];
}

/** `climate` null: there are no jobs at all. The choices are of all jobs. */
export interface ClimateAnswer extends Pick<Climate, "n" | "file_systems" | "motifs"> {
  readonly climate: DrawnClimate | null;
}

function drawnSeries(pane: ClimatePane, whole: Climate): DrawnSeries {
  const { file_system = "", motif = "", segments = [] } = whole.series[pane.series] ?? {};
  const own = whole.changes.filter((one) => one.file_system === file_system && one.motif === motif);
  return {
    file_system,
    motif,
    times: pane.times_s.map(instantOf),
    values: pane.values,
    runs: (whole.runs[pane.series] ?? []).map(([job, run]) => ({ job, run })),
    segments,
    changes: own.map((one, i) => ({ ...one, rose: pane.shifts[i]?.rose === true })),
  };
}

function place(column: ClimateColumn, whole: Climate): Place {
  const { file_system = "", sentence = "", regimes = [] } = whole.climates[column.place] ?? {};
  return {
    file_system,
    label: column.file_system || "no file system",
    sentence,
    bands: column.bands.map(({ name, climate, start_s, end_s }, i) => ({
      ...{ name, climate, start: instantOf(start_s), end: instantOf(end_s) },
      sentence: regimes[i]?.sentence ?? "",
    })),
    series: column.panes.map((pane) => pane && drawnSeries(pane, whole)),
  };
}

export function drawnClimate(whole: Climate): DrawnClimate {
  const { sentence, changes, events, figure } = whole;
  const { motifs, caption } = figure;
  const places = figure.columns.map((column) => place(column, whole));
  return { sentence, motifs, places, changes, events, since: instantOf(figure.since_s), until: instantOf(figure.until_s), caption };
}

/** `more`: what else is asked, such as the form of a picture. */
export function climateParams({ fileSystem, motif, since, until }: ClimateQuery, more: Readonly<Record<string, string | null>> = {}): URLSearchParams {
  const day = (text: string | null): string | null => (text === null ? null : nsText(unixMs(Date.parse(`${text}T00:00:00Z`))));
  return paramsOf({ ...more, file_system: fileSystem, motif, since_ns: day(since), until_ns: day(until) });
}

export async function fetchClimate(query: ClimateQuery, signal: AbortSignal): Promise<ClimateAnswer> {
  const whole = await get("api/climate", climateParams(query), signal);
  if (!("figure" in whole)) return { n: whole.n, file_systems: [], motifs: [], climate: null };
  return { n: whole.n, file_systems: whole.file_systems, motifs: whole.motifs, climate: drawnClimate(whole) };
}
