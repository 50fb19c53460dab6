// Questions about why it is slow, and the newest events.
import type { Annotation, Slowness, Why } from "./generated.ts";
import { get, paramsOf } from "./get.ts";
import type { TargetKey } from "./model.ts";
import { nsText } from "./time.ts";
import type { UnixMs } from "./time.ts";

/** An event's id, or a target and an instant; without both: what is slow now. */
export interface WhyQuery {
  readonly event: string | null;
  readonly target: string | null;
  readonly at: UnixMs | null;
  /** Fits the queue model, which takes seconds. */
  readonly model: boolean;
}

export function whyParams({ event, target, at, model }: WhyQuery, zone: string | null): URLSearchParams {
  const what = event !== null ? { event } : { target, at_ns: at === null ? null : nsText(at) };
  return paramsOf({ ...what, model: model ? true : null, zone });
}

/** The slow stretch; null: none was found. */
export const stretchOf = ({ links: { slowness } }: Why): Slowness | null => (slowness.standing === "found" ? slowness.fact : null);

/** Jobs whose load explains it: of a load that was found; of one that was ruled out or is not known none. */
export const jobsOf = ({ links: { load } }: Why): string[] =>
  load.standing === "found" ? (load.fact?.culprits ?? []).flatMap(({ job }) => (job === "" ? [] : [job])) : [];

/** The newest first; `not_judged`, `peers`: sentences about what was not judged in the range, and what is slow beside its peers. */
export interface NewestEvents {
  readonly total: number;
  readonly events: readonly Annotation[];
  readonly not_judged: readonly string[];
  readonly peers: readonly string[];
}

/** The newest events of a target as a host saw it, at most `limit`. */
export async function fetchEvents({ host, target }: TargetKey, from: UnixMs, to: UnixMs, limit: number, zone: string | null, signal: AbortSignal): Promise<NewestEvents> {
  const params = paramsOf({ host, target, limit, from: Math.floor(from), to: Math.ceil(to), zone });
  const { total, annotations, not_judged, peers } = await get("api/annotations", params, signal);
  return { total, events: annotations.reverse(), not_judged, peers };
}
