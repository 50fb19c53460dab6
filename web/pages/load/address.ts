// Which load is looked at, in the address after the #. Instants are absolute, so a link shows a colleague the same.
import { COLUMNS } from "../../api/load.ts";
import type { ColumnKind, RateBand } from "../../api/load.ts";
import type { TargetKey } from "../../api/model.ts";
import { unixMs } from "../../api/time.ts";
import type { TimeSpan } from "../../charts/load/layout.ts";

export interface LoadAddress {
  readonly by: ColumnKind;
  /** null: all that was recorded. */
  readonly span: TimeSpan | null;
  readonly band: RateBand | null;
  /** Whose slowdown stands beside it; null: the first target's. */
  readonly target: TargetKey | null;
  /** Each column has a scale of its own. */
  readonly own: boolean;
}

export const WHOLE: LoadAddress = { by: "user", span: null, band: null, target: null, own: false };

/** null: the address is not that of a load. */
export function readLoadAddress(hash: string): LoadAddress | null {
  const params = new URLSearchParams(hash.replace(/^#\/load(?:\?|$)/, "#page=load&").replace(/^#/, ""));
  if (params.get("page") !== "load") return null;
  const [from, to] = [Date.parse(params.get("from") ?? ""), Date.parse(params.get("to") ?? "")];
  const [low, high] = [Number(params.get("low") ?? "0"), Number(params.get("high") ?? "NaN")];
  const [host, target] = [params.get("host"), params.get("target")];
  return {
    by: COLUMNS.find((one) => one === params.get("by")) ?? "user",
    span: to > from ? { from: unixMs(from), to: unixMs(to) } : null,
    band: low >= 0 && high > low && high <= 1e12 ? { low, high } : null,
    target: host !== null && target !== null ? { host, target } : null,
    own: params.get("scale") === "own",
  };
}

export function loadAddress({ by, span, band, target, own }: LoadAddress): string {
  const params = new URLSearchParams({ page: "load", by });
  if (span !== null) {
    params.set("from", new Date(span.from).toISOString());
    params.set("to", new Date(span.to).toISOString());
  }
  if (band !== null) {
    params.set("low", String(band.low));
    params.set("high", String(band.high));
  }
  if (target !== null) {
    params.set("host", target.host);
    params.set("target", target.target);
  }
  if (own) params.set("scale", "own");
  return `#${params.toString().replaceAll("%3A", ":")}`;
}
