// Links to places of other pages, with absolute times: each as the page itself writes its address.
import type { TargetKey } from "../../api/model.ts";
import type { UnixMs } from "../../api/time.ts";

export interface Stretch {
  readonly from: UnixMs;
  readonly to: UnixMs;
}

const link = (params: URLSearchParams): string => `#${params.toString().replaceAll("%3A", ":")}`;

function timed(params: URLSearchParams, span: Stretch | null): URLSearchParams {
  if (span !== null) {
    params.set("from", new Date(span.from).toISOString());
    params.set("to", new Date(span.to).toISOString());
  }
  return params;
}

/** A target as seen from a host; without a span live. */
export const targetPlace = (key: TargetKey, span: Stretch | null): string =>
  link(timed(new URLSearchParams({ host: key.host, target: key.target }), span));

/** Whose load there was, beside a target's slowdown. */
export function loadPlace(span: Stretch, key: TargetKey | null, by = "job"): string {
  const params = timed(new URLSearchParams({ page: "load", by }), span);
  if (key !== null) {
    params.set("host", key.host);
    params.set("target", key.target);
  }
  return link(params);
}

/** A job, or one of its runs. */
export function jobPlace(job: string, run = ""): string {
  const params = new URLSearchParams({ page: "jobs", job });
  if (run !== "") params.set("run", run);
  return link(params);
}
