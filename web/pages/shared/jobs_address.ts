// Which job is looked at, in the address after the #.
import type { UmamiQuery } from "../../api/jobs.ts";

export interface JobsAddress {
  readonly search: string;
  readonly query: UmamiQuery | null;
}

/** null: the address is not that of the jobs. */
export function readJobsAddress(hash: string): JobsAddress | null {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  if (params.get("page") !== "jobs") return null;
  const job = params.get("job");
  const history = params.get("history") === "all" ? "all" : "earlier";
  return {
    search: params.get("search") ?? "",
    query: job === null ? null : { job, run: params.get("run") ?? "", history, whole: params.get("whole") === "1" },
  };
}

export function jobsAddress(address: JobsAddress): string {
  const params = new URLSearchParams({ page: "jobs" });
  if (address.search !== "") params.set("search", address.search);
  if (address.query !== null) {
    params.set("job", address.query.job);
    if (address.query.run !== "") params.set("run", address.query.run);
    if (address.query.history === "all") params.set("history", "all");
    if (address.query.whole) params.set("whole", "1");
  }
  return `#${params.toString()}`;
}
