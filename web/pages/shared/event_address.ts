// Which event is asked about, in the address after the #: its id, or a target and an instant.
import type { WhyQuery } from "../../api/why.ts";
import { unixMs } from "../../api/time.ts";

/** What is slow now. */
export const NOW: WhyQuery = { event: null, target: null, at: null, model: false };

/** null: the address is not that of an event. */
export function readEventAddress(hash: string): WhyQuery | null {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  if (params.get("page") !== "event") return null;
  const text = params.get("at") ?? "";
  const at = Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) ? text : `${text}Z`);
  const words = (name: string): string | null => (params.get(name) === "" ? null : params.get(name));
  return { event: words("event"), target: words("target"), at: at >= 0 ? unixMs(at) : null, model: params.get("model") === "1" };
}

export function eventAddress({ event, target, at, model }: WhyQuery): string {
  const params = new URLSearchParams({ page: "event" });
  if (event !== null) params.set("event", event);
  if (target !== null) params.set("target", target);
  if (at !== null) params.set("at", new Date(at).toISOString());
  if (model) params.set("model", "1");
  return `#${params.toString().replaceAll("%3A", ":").replaceAll("%2F", "/")}`;
}
