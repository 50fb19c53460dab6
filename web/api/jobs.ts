// Questions about jobs, and the diagram of one.
import type { ListedJob, Umami } from "./generated.ts";
import { get, paramsOf } from "./get.ts";
import { instantOf } from "./time.ts";
import type { UnixMs } from "./time.ts";

export interface UmamiQuery {
  readonly job: string;
  readonly run: string;
  readonly history: "earlier" | "all";
  /** All runs and rows, not only those that a screen has room for. */
  readonly whole: boolean;
}

/** `more`: what else is asked, such as the form of a picture. */
export function umamiParams({ job, run, history, whole }: UmamiQuery, more: Readonly<Record<string, string | null>> = {}): URLSearchParams {
  const room = whole ? { runs: 0, rows: 0 } : {};
  return paramsOf({ job, run: run || null, history: history === "earlier" ? null : history, ...room, ...more });
}

/** The runs of one job, as the list of jobs has them. */
export const fetchRunsOf = async (job: string, signal: AbortSignal): Promise<ListedJob[]> =>
  (await get("api/jobs", paramsOf({ search: job }), signal)).jobs.filter((one) => one.job === job);

/** What the job ran, or how the scheduler calls it. */
export const motifOf = (job: ListedJob): string => job.motif || job.name;

/** Something says how fast its I/O was, so it has a diagram. */
export const performed = (job: ListedJob): boolean => job.performance !== null;

/** The diagram on the page's axis of time. */
export type UmamiFigure = Umami["figure"] & { readonly times: readonly UnixMs[]; readonly since: UnixMs; readonly until: UnixMs };

export const umamiFigure = ({ figure }: Umami): UmamiFigure => ({
  ...figure,
  times: figure.times_s.map(instantOf),
  since: instantOf(figure.since_s),
  until: instantOf(figure.until_s),
});
