// A job beside the storage and the load of its time.
import { getJson } from "./client.ts";
import { column, factor, instant, list, number, orNull, record, text } from "./decode.ts";
import { durationFromNs } from "./time.ts";
import type { Ms, UnixMs } from "./time.ts";

/** One target while the job ran. */
export interface JobStorage {
  readonly target: string;
  readonly hosts: readonly string[];
  readonly sentence: string;
  /** At least so many times slower than usual in the stretches; null: it was never slow. */
  readonly level: number | null;
  /** Nobody can say for any of the time. */
  readonly unknown: boolean;
  readonly stretches: readonly (readonly [UnixMs, UnixMs])[];
}

export interface JobEvent {
  readonly id: string;
  readonly text: string;
}

/** Operations per second in cells of `step` from `begin`; null: nothing was recorded in a cell. */
export interface JobCourse {
  readonly sentence: string;
  readonly begin: UnixMs;
  readonly step: Ms;
  readonly own: readonly (number | null)[];
  readonly all: readonly (number | null)[];
}

export interface JobBeside {
  /** Only a scheduler recorded it: it has no diagram. */
  readonly scheduled: boolean;
  readonly sentence: string;
  readonly begin: UnixMs | null;
  readonly end: UnixMs | null;
  readonly about: readonly string[];
  readonly runTime: readonly string[];
  readonly ownIo: readonly string[];
  readonly storage: readonly JobStorage[];
  readonly events: readonly JobEvent[];
  readonly load: JobCourse | null;
}

/** `known` false: neither a probe nor a scheduler says what it met. */
export type JobAnswer = { readonly known: false; readonly sentence: string } | ({ readonly known: true } & JobBeside);

function storage(value: unknown, where: string): JobStorage {
  const raw = record(value, where);
  return {
    target: text(raw["target"], `${where}.target`),
    hosts: column(raw, "hosts", where, text),
    sentence: text(raw["sentence"], `${where}.sentence`),
    level: factor(raw["told_level"], `${where}.told_level`),
    unknown: raw["slow_s"] === 0 && raw["clear_s"] === 0,
    stretches: list(raw["stretches"], `${where}.stretches`).map((one) => {
      const span = record(one, `${where}.stretches`);
      return [instant(span["begin_ns"], where), instant(span["end_ns"], where)] as const;
    }),
  };
}

function course(value: unknown): JobCourse {
  const raw = record(value, "job.load");
  return {
    sentence: text(raw["sentence"], "job.load.sentence"),
    begin: instant(raw["begin_ns"], "job.load.begin_ns"),
    step: durationFromNs(number(raw["step_ns"], "job.load.step_ns")),
    own: column(raw, "own_per_s", "job.load", factor),
    all: column(raw, "all_per_s", "job.load", factor),
  };
}

export function decodeJobBeside(value: unknown): JobAnswer {
  const raw = record(value, "job");
  const sentence = text(raw["sentence"], "job.sentence");
  if (raw["known"] !== true) return { known: false, sentence };
  return {
    known: true,
    scheduled: raw["scheduled"] === true,
    sentence,
    begin: orNull(raw["begin_ns"], (v) => instant(v, "job.begin_ns")),
    end: orNull(raw["end_ns"], (v) => instant(v, "job.end_ns")),
    about: column(raw, "about", "job", text),
    runTime: column(raw, "run_time", "job", text),
    ownIo: column(raw, "own_io", "job", text),
    storage: list(raw["storage"], "job.storage").map((one, i) => storage(one, `job.storage[${i}]`)),
    events: list(raw["events"], "job.events").map((one) => {
      const event = record(one, "job.events");
      return { id: text(event["id"], "job.events.id"), text: text(event["text"], "job.events.text") };
    }),
    load: orNull(raw["load"], course),
  };
}

export async function fetchJobBeside(job: string, run: string, zone: string | null, signal: AbortSignal): Promise<JobAnswer> {
  const params = new URLSearchParams({ job });
  if (run !== "") params.set("run", run);
  if (zone !== null) params.set("zone", zone);
  return decodeJobBeside(await getJson(`api/job?${params.toString()}`, signal));
}
