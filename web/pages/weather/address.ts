// What is looked at, in the address after the #, so that a view can be bookmarked and sent to a colleague.
import type { TargetKey } from "../../api/model.ts";
import { ms, unixMs } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { rangeById, WINDOWS } from "../../components/weather/pickers.ts";

export interface Zoom {
  readonly from: UnixMs;
  readonly to: UnixMs;
}

export interface Address {
  readonly key: TargetKey | null;
  readonly range: string;
  /** null: auto. */
  readonly window: Ms | null;
  /** A span that stands still; null: the last `range`, live. */
  readonly span: Zoom | null;
}

export const DEFAULT_RANGE = "10m";

/** Two instants as people write them: ISO 8601, UTC where no offset is given. */
function spanOf(from: string | null, to: string | null): Zoom | null {
  const [begin, end] = [from, to].map((text) => Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text ?? "") ? (text ?? "") : `${text}Z`));
  return begin !== undefined && end !== undefined && end > begin ? { from: unixMs(begin), to: unixMs(end) } : null;
}

export function readAddress(hash: string): Address {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const host = params.get("host");
  const target = params.get("target");
  const range = params.get("range") ?? DEFAULT_RANGE;
  const window = ms(Number(params.get("window_s") ?? "0") * 1000);
  return {
    key: host !== null && target !== null ? { host, target } : null,
    range: rangeById(range) === null ? DEFAULT_RANGE : range,
    window: WINDOWS.includes(window) ? window : null,
    span: spanOf(params.get("from"), params.get("to")),
  };
}

export function writeAddress(address: Address): string {
  const params = new URLSearchParams();
  if (address.key !== null) {
    params.set("host", address.key.host);
    params.set("target", address.key.target);
  }
  if (address.range !== DEFAULT_RANGE) params.set("range", address.range);
  if (address.window !== null) params.set("window_s", String(address.window / 1000));
  if (address.span !== null) {
    params.set("from", new Date(address.span.from).toISOString());
    params.set("to", new Date(address.span.to).toISOString());
  }
  return `#${params.toString().replaceAll("%3A", ":")}`;
}
