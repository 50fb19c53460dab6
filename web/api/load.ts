// Who did how many operations when, as the server sends it: names and totals as JSON, rates by cell as arrays.
import { ApiError, getJson, refusalText } from "./client.ts";
import { instant, list, number, orNull, record, text } from "./decode.ts";
import { durationFromNs, nsText } from "./time.ts";
import type { Ms, UnixMs } from "./time.ts";

export const COLUMNS = ["user", "account", "name", "job", "nodes"] as const;
export type ColumnKind = (typeof COLUMNS)[number];

/** Total rates in operations per second. */
export interface RateBand {
  readonly low: number;
  readonly high: number;
}

export interface LoadQuery {
  readonly by: ColumnKind;
  /** null: all that was recorded. */
  readonly span: { readonly from: UnixMs; readonly to: UnixMs } | null;
  readonly cells: number;
  readonly top: number;
  /** Cells before and after the span, so many times its length. */
  readonly margin: number;
  readonly band: RateBand | null;
}

export interface Part {
  readonly name: string;
  readonly ops: number;
  readonly share: number;
}

export interface LoadColumn extends Part {
  /** The largest rate of a record's length, operations per second. */
  readonly most: number;
}

export interface Load {
  readonly n: number;
  readonly version: number;
  readonly noun: string;
  readonly nouns: string;
  readonly hashed: boolean;
  readonly sentence: string;
  readonly recorded: { readonly from: UnixMs; readonly to: UnixMs; readonly step: Ms };
  readonly begin: UnixMs;
  readonly step: Ms;
  readonly cells: number;
  readonly ops: number;
  readonly most: number;
  readonly half: number | null;
  readonly columns: readonly LoadColumn[];
  /** Seconds with a total between two edges. */
  readonly totals: { readonly edges: readonly number[]; readonly seconds: readonly number[] };
  readonly band: (RateBand & { readonly half: number | null; readonly ranked: readonly Part[] }) | null;
}

/** Rates by cell: of the total, then of each column, the mean and the largest; then records and band, 0 to 1. */
export interface LoadCells {
  readonly values: Float32Array;
  readonly cells: number;
}

export interface LoadJob {
  readonly job: string;
  readonly user: string;
  readonly name: string;
  readonly nodes: number;
  readonly mean: number;
}

/** `sentence` alone: nothing is recorded. */
export type LoadAnswer = { readonly load: Load; readonly cells: LoadCells } | { readonly load: null; readonly sentence: string };

export function loadUrl(query: LoadQuery, path = "api/load", more: Readonly<Record<string, string>> = {}): string {
  const params = new URLSearchParams({ by: query.by, cells: String(query.cells), top: String(query.top), ...more });
  if (query.span !== null) {
    params.set("since_ns", nsText(query.span.from));
    params.set("until_ns", nsText(query.span.to));
  }
  if (query.margin > 0) params.set("margin", String(query.margin));
  if (query.band !== null) {
    params.set("low_per_s", String(query.band.low));
    params.set("high_per_s", String(query.band.high));
  }
  return `${path}?${params.toString()}`;
}

const numbers = (value: unknown, where: string): number[] => list(value, where).map((v) => number(v, where));

function part(value: unknown, where: string): Part {
  const raw = record(value, where);
  return { name: text(raw["name"], where), ops: number(raw["ops"], where), share: number(raw["share"], where) };
}

export function decodeLoad(value: unknown): Load {
  const raw = record(value, "load");
  const recorded = record(raw["recorded"], "load.recorded");
  const totals = record(raw["totals"], "load.totals");
  return {
    n: number(raw["n"], "load.n"),
    version: number(raw["version"], "load.version"),
    noun: text(raw["noun"], "load.noun"),
    nouns: text(raw["nouns"], "load.nouns"),
    hashed: raw["hashed"] === true,
    sentence: text(raw["sentence"], "load.sentence"),
    recorded: {
      from: instant(recorded["begin_ns"], "load.recorded"),
      to: instant(recorded["end_ns"], "load.recorded"),
      step: durationFromNs(number(recorded["step_ns"], "load.recorded")),
    },
    begin: instant(raw["begin_ns"], "load.begin_ns"),
    step: durationFromNs(number(raw["step_ns"], "load.step_ns")),
    cells: number(raw["cells"], "load.cells"),
    ops: number(raw["ops"], "load.ops"),
    most: number(raw["most_per_s"], "load.most_per_s"),
    half: orNull(raw["half"], (v) => number(v, "load.half")),
    columns: list(raw["columns"], "load.columns").map((v) => ({ ...part(v, "column"), most: number(record(v, "column")["most_per_s"], "column") })),
    totals: { edges: numbers(totals["edges_per_s"], "totals"), seconds: numbers(totals["seconds"], "totals") },
    band: orNull(raw["band"], decodeBand),
  };
}

function decodeBand(value: unknown): Load["band"] {
  const raw = record(value, "band");
  return {
    low: number(raw["low_per_s"], "band"),
    high: number(raw["high_per_s"], "band"),
    half: orNull(raw["half"], (v) => number(v, "band")),
    ranked: list(raw["ranked"], "band.ranked").map((v) => part(v, "band.ranked")),
  };
}

async function getCells(url: string, signal: AbortSignal): Promise<Float32Array> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new ApiError(refusalText(await response.json().catch(() => null), response.status), response.status);
  return new Float32Array(await response.arrayBuffer());
}

/** Both parts of one view; asked for again where the server read its store anew between them. */
export async function fetchLoad(query: LoadQuery, signal: AbortSignal): Promise<LoadAnswer> {
  for (let tries = 0; tries < 3; tries += 1) {
    const raw = await getJson(loadUrl(query), signal);
    if (record(raw, "load")["n"] === 0 && record(raw, "load")["version"] === undefined) {
      return { load: null, sentence: text(record(raw, "load")["sentence"], "load.sentence") };
    }
    const load = decodeLoad(raw);
    const values = await getCells(loadUrl(query, "api/load/cells"), signal);
    if (values.length === load.cells * (2 * (load.columns.length + 1) + 2)) return { load, cells: { values, cells: load.cells } };
  }
  throw new ApiError("the names and the rates of a load do not fit together", null);
}

/** Jobs of a column (null: of all) in a range, the largest first; `n`: how many there are. */
export async function fetchLoadJobs(by: ColumnKind, name: string | null, from: UnixMs, to: UnixMs, signal: AbortSignal): Promise<{ n: number; jobs: LoadJob[] }> {
  const params = new URLSearchParams({ by, since_ns: nsText(from), until_ns: nsText(to), limit: "3" });
  if (name !== null) params.set("name", name);
  const raw = record(await getJson(`api/load/jobs?${params.toString()}`, signal), "jobs");
  const jobs = list(raw["jobs"], "jobs").map((value) => {
    const one = record(value, "job");
    return { job: text(one["job_id"], "job"), user: text(one["user"], "job"), name: text(one["name"], "job"), nodes: number(one["nodes"], "job"), mean: number(one["mean_per_s"], "job") };
  });
  return { n: number(raw["total"], "jobs.total"), jobs };
}
