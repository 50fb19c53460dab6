// Targets and jobs by their words, for the field in the head of every page.
import type { Target } from "../api/generated.ts";
import { get, paramsOf } from "../api/get.ts";
import { motifOf } from "../api/jobs.ts";
import { formatInstant } from "../charts/shared/format.ts";
import type { Hit, Hits } from "../components/shared/search_box.ts";
import { jobPlace, targetPlace } from "./shared/places.ts";
import { matches } from "./weather/targets.ts";

const MOST_TARGETS = 8;
const MOST_JOBS = 8;

/** `targets`: all that are known now. */
export function finder(targets: () => readonly Target[]): (words: string, signal: AbortSignal) => Promise<Hits> {
  return async (words, signal) => {
    const found = targets().filter((one) => matches(one, words));
    const jobs = await get("api/jobs", paramsOf({ search: words || null }), signal);
    const ofTargets: Hit[] = found.slice(0, MOST_TARGETS).map((one) => ({ kind: "target", name: one.target, detail: `from ${one.host}: ${one.brief}`, href: targetPlace(one, null) }));
    const ofJobs: Hit[] = jobs.jobs.slice(0, MOST_JOBS).map((one) => ({
      kind: "job",
      name: one.job,
      detail: [motifOf(one), one.start === null ? "" : formatInstant(one.start)].filter((part) => part !== "").join(", "),
      href: jobPlace(one.job, one.run),
    }));
    const more = Math.max(0, found.length - MOST_TARGETS) + Math.max(0, jobs.total - ofJobs.length);
    const hits = [...ofTargets, ...ofJobs];
    return { hits, note: hits.length === 0 ? "No target and no job matches." : more > 0 ? `and ${more} more: add a word` : "" };
  };
}
