// What changed for good, as the server sends it: numbers, what is drawn, and the sentences of the terminal.
import { getJson } from "./client.ts";
import { column, factor, instant, list, number, orNull, record, ShapeError, text } from "./decode.ts";
import { nsText, unixMs } from "./time.ts";
import type { UnixMs } from "./time.ts";

/** Which jobs; null: all. `since` and `until` are days (UTC), the second not part of it. */
export interface ClimateQuery {
  readonly fileSystem: string | null;
  readonly motif: string | null;
  readonly since: string | null;
  readonly until: string | null;
}

/** A run as it can be asked for. */
export interface Run {
  readonly job: string;
  readonly run: string;
}

/** Runs between two changes; medians are fractions of the best run of all time. */
export interface Segment {
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly n: number;
  readonly median: number;
  readonly ofOwnPeak: number | null;
}

export interface Change {
  readonly fileSystem: string;
  readonly motif: string;
  readonly at: UnixMs;
  readonly earliest: UnixMs;
  readonly latest: UnixMs;
  readonly before: number;
  readonly after: number;
  readonly ratio: number | null;
  readonly nBefore: number;
  readonly nAfter: number;
  readonly q: number;
  /** The jobs themselves did something else afterwards. */
  readonly own: boolean;
  readonly sentence: string;
}

/** All runs of a file system and motif. */
export interface Series {
  readonly fileSystem: string;
  readonly motif: string;
  readonly times: readonly UnixMs[];
  readonly values: readonly (number | null)[];
  readonly runs: readonly Run[];
  readonly segments: readonly Segment[];
  readonly changes: readonly (Change & { readonly rose: boolean })[];
}

/** A stretch of days of one climate; `climate`: number of its name, so that one that came back looks the same. */
export interface Stretch {
  readonly name: string;
  readonly climate: number;
  readonly start: UnixMs;
  readonly end: UnixMs;
  readonly sentence: string;
}

/** A file system; `series` follows the motifs of the climate, null: too few runs. */
export interface Place {
  readonly fileSystem: string;
  readonly label: string;
  readonly sentence: string;
  readonly stretches: readonly Stretch[];
  readonly series: readonly (Series | null)[];
}

/** Changes that may have been on one date. */
export interface Happening {
  readonly at: UnixMs;
  readonly earliest: UnixMs;
  readonly latest: UnixMs;
  readonly sentence: string;
  readonly along: readonly string[];
  readonly changes: readonly Change[];
}

export interface Climate {
  readonly sentence: string;
  readonly motifs: readonly string[];
  readonly places: readonly Place[];
  readonly changes: readonly Change[];
  readonly happenings: readonly Happening[];
  readonly since: UnixMs;
  readonly until: UnixMs;
  readonly caption: readonly string[];
}

/** `climate` null: there are no jobs at all. The choices are of all jobs. */
export interface ClimateAnswer {
  readonly n: number;
  readonly fileSystems: readonly string[];
  readonly motifs: readonly string[];
  readonly climate: Climate | null;
}

const seconds = (value: unknown, where: string): UnixMs => unixMs(number(value, where) * 1000);

function change(value: unknown, where: string): Change {
  const raw = record(value, where);
  const read = (name: string): number => number(raw[name], `${where}.${name}`);
  const when = (name: string): UnixMs => instant(raw[name], `${where}.${name}`);
  return {
    fileSystem: text(raw["file_system"], `${where}.file_system`),
    motif: text(raw["motif"], `${where}.motif`),
    at: when("at_ns"),
    earliest: when("earliest_ns"),
    latest: when("latest_ns"),
    before: read("before"),
    after: read("after"),
    ratio: factor(raw["ratio"], `${where}.ratio`),
    nBefore: read("n_before"),
    nAfter: read("n_after"),
    q: read("q"),
    own: list(raw["own"], `${where}.own`).length > 0,
    sentence: text(raw["sentence"], `${where}.sentence`),
  };
}

function segment(value: unknown, where: string): Segment {
  const raw = record(value, where);
  return {
    start: instant(raw["start_ns"], `${where}.start_ns`),
    end: instant(raw["end_ns"], `${where}.end_ns`),
    n: number(raw["n"], `${where}.n`),
    median: number(raw["median"], `${where}.median`),
    ofOwnPeak: factor(raw["of_own_peak_ratio"], `${where}.of_own_peak_ratio`),
  };
}

function happening(value: unknown, where: string): Happening {
  const raw = record(value, where);
  return {
    at: instant(raw["at_ns"], `${where}.at_ns`),
    earliest: instant(raw["earliest_ns"], `${where}.earliest_ns`),
    latest: instant(raw["latest_ns"], `${where}.latest_ns`),
    sentence: text(raw["sentence"], `${where}.sentence`),
    along: column(raw, "along", where, text),
    changes: column(raw, "changes", where, change),
  };
}

function run(value: unknown, where: string): Run {
  const [job, name] = list(value, where);
  return { job: text(job, where), run: text(name, where) };
}

type Json = Record<string, unknown>;

/** What a pane draws, with the numbers of its series and which run each dot is. */
function series(pane: unknown, where: string, whole: Json, changes: readonly Change[]): Series {
  const raw = record(pane, where);
  const at = number(raw["series"], `${where}.series`);
  const about = record(list(whole["series"], "climate.series")[at], `climate.series[${at}]`);
  const fileSystem = text(about["file_system"], `climate.series[${at}].file_system`);
  const motif = text(about["motif"], `climate.series[${at}].motif`);
  const rose = list(raw["shifts"], `${where}.shifts`).map((shift) => record(shift, `${where}.shifts`)["rose"] === true);
  const own = changes.filter((one) => one.fileSystem === fileSystem && one.motif === motif);
  const made = {
    fileSystem,
    motif,
    times: column(raw, "times_s", where, seconds),
    values: column(raw, "values", where, factor),
    runs: list(list(whole["runs"], "climate.runs")[at], `climate.runs[${at}]`).map((one) => run(one, `climate.runs[${at}]`)),
    segments: column(about, "segments", `climate.series[${at}]`, segment),
    changes: own.map((one, i) => ({ ...one, rose: rose[i] === true })),
  };
  const n = made.times.length;
  if (made.values.length !== n || made.runs.length !== n) throw new ShapeError(where, "columns of one length");
  if (own.length !== rose.length) throw new ShapeError(`${where}.shifts`, "the changes of its series");
  return made;
}

function place(value: unknown, where: string, whole: Json, changes: readonly Change[]): Place {
  const raw = record(value, where);
  const at = number(raw["place"], `${where}.place`);
  const about = record(list(whole["climates"], "climate.climates")[at], `climate.climates[${at}]`);
  const regimes = list(about["regimes"], `climate.climates[${at}].regimes`).map((one) => record(one, "regime"));
  return {
    fileSystem: text(about["file_system"], `climate.climates[${at}].file_system`),
    label: text(raw["file_system"], `${where}.file_system`) || "no file system",
    sentence: text(about["sentence"], `climate.climates[${at}].sentence`),
    stretches: list(raw["bands"], `${where}.bands`).map((one, i) => {
      const band = record(one, `${where}.bands[${i}]`);
      return {
        name: text(band["name"], `${where}.bands.name`),
        climate: number(band["climate"], `${where}.bands.climate`),
        start: seconds(band["start_s"], `${where}.bands.start_s`),
        end: seconds(band["end_s"], `${where}.bands.end_s`),
        sentence: text(regimes[i]?.["sentence"], `climate.climates[${at}].regimes[${i}].sentence`),
      };
    }),
    series: list(raw["panes"], `${where}.panes`).map((pane, i) => orNull(pane, (p) => series(p, `${where}.panes[${i}]`, whole, changes))),
  };
}

export function decodeClimate(value: unknown): ClimateAnswer {
  const whole = record(value, "climate");
  const n = number(whole["n"], "climate.n");
  if (n === 0) return { n, fileSystems: [], motifs: [], climate: null };
  const figure = record(whole["figure"], "climate.figure");
  const changes = column(whole, "changes", "climate", change);
  return {
    n,
    fileSystems: column(whole, "file_systems", "climate", text),
    motifs: column(whole, "motifs", "climate", text),
    climate: {
      sentence: text(whole["sentence"], "climate.sentence"),
      motifs: column(figure, "motifs", "climate.figure", text),
      places: list(figure["columns"], "climate.figure.columns").map((one, i) => place(one, `climate.figure.columns[${i}]`, whole, changes)),
      changes,
      happenings: column(whole, "events", "climate", happening),
      since: seconds(figure["since_s"], "climate.figure.since_s"),
      until: seconds(figure["until_s"], "climate.figure.until_s"),
      caption: column(figure, "caption", "climate.figure", text),
    },
  };
}

/** `more`: what else is asked, such as the form of a picture. */
export function climateUrl(query: ClimateQuery, more: Readonly<Record<string, string>> = {}): string {
  const params = new URLSearchParams(more);
  if (query.fileSystem !== null) params.set("file_system", query.fileSystem);
  if (query.motif !== null) params.set("motif", query.motif);
  for (const [name, day] of [["since_ns", query.since], ["until_ns", query.until]] as const) {
    if (day !== null) params.set(name, nsText(unixMs(Date.parse(`${day}T00:00:00Z`))));
  }
  return `api/climate?${params.toString()}`;
}

export const fetchClimate = async (query: ClimateQuery, signal: AbortSignal): Promise<ClimateAnswer> =>
  decodeClimate(await getJson(climateUrl(query), signal));
