// Benchmark runs as the server sends them: words, tables and addresses of pictures.
import { getJson } from "./client.ts";
import { instant, list, number, orNull, record, text } from "./decode.ts";
import type { UnixMs } from "./time.ts";

export interface RunsQuery {
  readonly kind: string | null;
  readonly target: string | null;
}

export interface ListedRun {
  readonly run: string;
  readonly kind: string;
  readonly target: string;
  readonly began: UnixMs;
  readonly finished: boolean;
  readonly headline: string;
}

export interface RunList {
  readonly n: number;
  readonly found: number;
  readonly kinds: readonly string[];
  readonly targets: readonly string[];
  readonly runs: readonly ListedRun[];
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Run {
  readonly title: string;
  readonly subtitle: string;
  readonly headline: string;
  readonly slow: boolean;
  readonly rates: Table;
  readonly notes: readonly string[];
  readonly components: { readonly say: readonly string[]; readonly findings: Table; readonly limits: readonly string[] } | null;
  readonly cautions: readonly string[];
  readonly parameters: Table;
  readonly machine: Table;
  readonly command: string | null;
  readonly pictures: readonly { readonly name: string; readonly title: string; readonly caption: readonly string[] }[];
}

export interface RunPair {
  readonly say: readonly string[];
  readonly table: Table;
  readonly note: string;
}

const words = (value: unknown, where: string): string[] => list(value, where).map((one) => text(one, where));

function table(value: unknown, where: string): Table {
  const raw = record(value, where);
  return { head: words(raw["head"], where), rows: list(raw["rows"], where).map((row) => words(row, where)) };
}

/** Name and value of each. */
const facts = (value: unknown, where: string): Table => ({ head: [], rows: list(value, where).map((row) => words(row, where)) });

export async function fetchRuns(query: RunsQuery, signal: AbortSignal): Promise<RunList> {
  const params = new URLSearchParams({ limit: "500" });
  if (query.kind !== null) params.set("kind", query.kind);
  if (query.target !== null) params.set("target", query.target);
  const raw = record(await getJson(`api/runs?${params.toString()}`, signal), "runs");
  return {
    n: number(raw["n"], "runs.n"),
    found: number(raw["total"], "runs.total"),
    kinds: words(raw["kinds"], "runs.kinds"),
    targets: words(raw["targets"], "runs.targets"),
    runs: list(raw["runs"], "runs.runs").map((value) => {
      const one = record(value, "run");
      return {
        run: text(one["run"], "run"),
        kind: text(one["kind"], "run"),
        target: text(one["target"], "run"),
        began: instant(one["began_ns"], "run"),
        finished: one["finished"] === true,
        headline: text(one["headline"], "run"),
      };
    }),
  };
}

export async function fetchRun(run: string, zone: string | null, signal: AbortSignal): Promise<Run> {
  const raw = record(await getJson(`api/runs/run?${new URLSearchParams({ run, ...(zone === null ? {} : { zone }) }).toString()}`, signal), "run");
  return {
    title: text(raw["title"], "run.title"),
    subtitle: text(raw["subtitle"], "run.subtitle"),
    headline: text(raw["headline"], "run.headline"),
    slow: raw["slow"] === true,
    rates: table(raw["rates"], "run.rates"),
    notes: words(raw["notes"], "run.notes"),
    components: orNull(raw["components"], (value) => {
      const found = record(value, "run.components");
      return { say: words(found["say"], "say"), findings: table(found["findings"], "findings"), limits: words(found["limits"], "limits") };
    }),
    cautions: words(raw["cautions"], "run.cautions"),
    parameters: facts(raw["parameters"], "run.parameters"),
    machine: facts(raw["machine"], "run.machine"),
    command: orNull(raw["command"], (value) => text(value, "run.command")),
    pictures: list(raw["pictures"], "run.pictures").map((value) => {
      const one = record(value, "picture");
      return { name: text(one["name"], "picture"), title: text(one["title"], "picture"), caption: words(one["caption"], "picture") };
    }),
  };
}

export async function fetchRunPair(a: string, b: string, signal: AbortSignal): Promise<RunPair> {
  const raw = record(await getJson(`api/runs/compare?${new URLSearchParams({ a, b }).toString()}`, signal), "compare");
  return { say: words(raw["say"], "compare.say"), table: table(raw["table"], "compare.table"), note: text(raw["note"], "compare.note") };
}

export const runPictureUrl = (run: string, picture: string, more: Readonly<Record<string, string>>): string =>
  `api/runs/run?${new URLSearchParams({ run, picture, ...more }).toString()}`;
