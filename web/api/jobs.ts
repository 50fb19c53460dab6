// Jobs and the diagram of one, as the server sends them: numbers and words, nothing is computed from them here.
import { getJson } from "./client.ts";
import { column, factor, instant, list, number, orNull, record, ShapeError, text } from "./decode.ts";
import { unixMs } from "./time.ts";
import type { UnixMs } from "./time.ts";

export const ROLES = ["bad", "poor", "ok", "good", "neutral", "too little history", "missing"] as const;
export type Role = (typeof ROLES)[number];

export interface Job {
  readonly job: string;
  /** Tells several runs of one job apart; "" where there is but one. */
  readonly run: string;
  /** What it ran, or how the scheduler calls it. */
  readonly motif: string;
  readonly fileSystem: string;
  readonly start: UnixMs | null;
  /** Something says how fast its I/O was, so it has a diagram. */
  readonly performed: boolean;
}

export interface JobList {
  readonly n: number;
  readonly nFound: number;
  readonly jobs: readonly Job[];
}

export interface Box {
  readonly low: number;
  readonly q25: number;
  readonly q50: number;
  readonly q75: number;
  readonly high: number;
}

/** One metric; all its numbers are in `unit`. */
export interface UmamiRow {
  readonly metric: string;
  readonly label: string;
  readonly unit: string;
  readonly role: Role;
  readonly sign: string;
  readonly value: number | null;
  readonly valueText: string;
  readonly rank: string;
  readonly n: number;
  readonly flags: readonly string[];
  readonly values: readonly (number | null)[];
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  readonly tickTexts: readonly string[];
  readonly box: Box | null;
  readonly outliers: readonly number[];
}

export interface UmamiFigure {
  readonly title: string;
  readonly subtitle: string;
  readonly times: readonly UnixMs[];
  /** Which of the runs is the job. */
  readonly place: number;
  readonly since: UnixMs;
  readonly until: UnixMs;
  readonly dated: boolean;
  readonly rows: readonly UmamiRow[];
  /** Runs to which no line leads: nothing ran for weeks before them. */
  readonly gaps: readonly number[];
  readonly caption: readonly string[];
  readonly verdict: Verdict;
  /** The kind of the job; "" where it is not known. */
  readonly fileSystem: string;
  readonly motif: string;
}

/** What is said of the job, in the words of the terminal. */
export interface Verdict {
  readonly word: string;
  readonly sentence: string;
  readonly evidence: readonly string[];
  readonly rejected: string;
  readonly history: string;
  readonly notes: readonly string[];
}

const seconds = (value: unknown, where: string): UnixMs => unixMs(number(value, where) * 1000);

function job(value: unknown, where: string): Job {
  const raw = record(value, where);
  return {
    job: text(raw["job"], `${where}.job`),
    run: text(raw["run"], `${where}.run`),
    motif: text(raw["motif"], `${where}.motif`) || text(raw["name"], `${where}.name`),
    fileSystem: text(raw["file_system"], `${where}.file_system`),
    performed: raw["performance"] !== null,
    start: orNull(raw["start_ns"], (v) => instant(v, `${where}.start_ns`)),
  };
}

export function decodeJobs(value: unknown): JobList {
  const raw = record(value, "jobs");
  return {
    n: number(raw["n"], "jobs.n"),
    nFound: number(raw["total"], "jobs.total"),
    jobs: list(raw["jobs"], "jobs.jobs").map((j, i) => job(j, `jobs.jobs[${i}]`)),
  };
}

function box(value: unknown, where: string): Box {
  const raw = record(value, where);
  const read = (name: string): number => number(raw[name], `${where}.${name}`);
  return { low: read("low"), q25: read("q25"), q50: read("q50"), q75: read("q75"), high: read("high") };
}

function row(value: unknown, where: string): UmamiRow {
  const raw = record(value, where);
  const named = raw["role"];
  const role = ROLES.find((r) => r === named);
  if (role === undefined) throw new ShapeError(`${where}.role`, `one of ${ROLES.join(", ")}`);
  const words = (name: string): string => text(raw[name], `${where}.${name}`);
  return {
    metric: words("metric"),
    label: words("label"),
    unit: words("unit"),
    role,
    sign: words("sign"),
    value: factor(raw["value"], `${where}.value`),
    valueText: words("value_text"),
    rank: words("rank"),
    n: number(raw["n"], `${where}.n`),
    flags: column(raw, "flags", where, text),
    values: column(raw, "values", where, factor),
    low: number(raw["low"], `${where}.low`),
    high: number(raw["high"], `${where}.high`),
    ticks: column(raw, "ticks", where, number),
    tickTexts: column(raw, "tick_texts", where, text),
    box: orNull(raw["box"], (v) => box(v, `${where}.box`)),
    outliers: column(raw, "outliers", where, number),
  };
}

export function decodeUmami(value: unknown): UmamiFigure {
  const whole = record(value, "umami");
  const raw = record(whole["figure"], "umami.figure");
  const figure = {
    title: text(raw["title"], "umami.figure.title"),
    subtitle: text(raw["subtitle"], "umami.figure.subtitle"),
    times: column(raw, "times_s", "umami.figure", seconds),
    place: number(raw["place"], "umami.figure.place"),
    since: seconds(raw["since_s"], "umami.figure.since_s"),
    until: seconds(raw["until_s"], "umami.figure.until_s"),
    dated: raw["dated"] === true,
    rows: list(raw["rows"], "umami.figure.rows").map((r, i) => row(r, `umami.figure.rows[${i}]`)),
    gaps: column(raw, "gaps", "umami.figure", number),
    caption: column(raw, "caption", "umami.figure", text),
    verdict: {
      word: text(whole["verdict"], "umami.verdict"),
      sentence: text(whole["sentence"], "umami.sentence"),
      evidence: column(whole, "evidence", "umami", text),
      rejected: text(whole["rejected"], "umami.rejected"),
      history: text(whole["history"], "umami.history"),
      notes: column(whole, "notes", "umami", text),
    },
    fileSystem: text(whole["file_system"], "umami.file_system"),
    motif: text(whole["motif"], "umami.motif"),
  };
  if (figure.rows.some((r) => r.values.length !== figure.times.length)) throw new ShapeError("umami.figure.rows", "as long as its times");
  return figure;
}

export async function fetchJobs(search: string, signal: AbortSignal): Promise<JobList> {
  const params = new URLSearchParams(search === "" ? {} : { search });
  return decodeJobs(await getJson(`api/jobs?${params.toString()}`, signal));
}

export interface UmamiQuery {
  readonly job: string;
  readonly run: string;
  readonly history: "earlier" | "all";
  /** All runs and rows, not only those that a screen has room for. */
  readonly whole: boolean;
}

/** `more`: what else is asked, such as the form of a picture. */
export function umamiUrl(query: UmamiQuery, more: Readonly<Record<string, string>> = {}): string {
  const params = new URLSearchParams({ job: query.job });
  if (query.run !== "") params.set("run", query.run);
  if (query.history !== "earlier") params.set("history", query.history);
  if (query.whole) for (const name of ["runs", "rows"]) params.set(name, "0");
  for (const [name, value] of Object.entries(more)) params.set(name, value);
  return `api/umami?${params.toString()}`;
}

/** The runs of one job, as the list of jobs has them. */
export const fetchRunsOf = async (job: string, signal: AbortSignal): Promise<Job[]> =>
  (await fetchJobs(job, signal)).jobs.filter((one) => one.job === job);

export const fetchUmami = async (query: UmamiQuery, signal: AbortSignal): Promise<UmamiFigure> =>
  decodeUmami(await getJson(umamiUrl(query), signal));
