// Who did how many operations when: names and totals as JSON, rates by cell as arrays.
import type { Load } from "./generated.ts";
import { ApiError, fetched, get, paramsOf, urlOf } from "./get.ts";
import { nsText } from "./time.ts";
import type { UnixMs } from "./time.ts";

export const COLUMNS = ["user", "account", "name", "job", "nodes"] as const;
export type ColumnKind = (typeof COLUMNS)[number];

/** Total rates in operations per second. */
export interface RateBand {
  readonly low: number;
  readonly high: number;
}

export interface LoadQuery {
  readonly by: ColumnKind;
  /** null: all that was recorded. */
  readonly span: { readonly from: UnixMs; readonly to: UnixMs } | null;
  readonly cells: number;
  readonly top: number;
  /** Cells before and after the span, so many times its length. */
  readonly margin: number;
  readonly band: RateBand | null;
}

/** Rates by cell: of the total, then of each column, the mean and the largest; then records and band, 0 to 1. */
export interface LoadCells {
  readonly values: Float32Array;
  readonly cells: number;
}

/** `sentence` alone: nothing is recorded. */
export type LoadAnswer = { readonly load: Load; readonly cells: LoadCells } | { readonly load: null; readonly sentence: string };

export function loadParams({ by, cells, top, span, margin, band }: LoadQuery, more: Readonly<Record<string, string | null>> = {}): URLSearchParams {
  const range = span === null ? {} : { since_ns: nsText(span.from), until_ns: nsText(span.to) };
  const rates = band === null ? {} : { low_per_s: band.low, high_per_s: band.high };
  return paramsOf({ by, cells, top, ...more, ...range, margin: margin > 0 ? margin : null, ...rates });
}

/** From when to when nodes recorded. */
export const recordedSpan = ({ recorded }: Load): { readonly from: UnixMs; readonly to: UnixMs } => ({ from: recorded.begin, to: recorded.end });

/** Both parts of one view; asked for again where the server read its store anew between them. */
export async function fetchLoad(query: LoadQuery, signal: AbortSignal): Promise<LoadAnswer> {
  for (let tries = 0; tries < 3; tries += 1) {
    const load = await get("api/load", loadParams(query), signal);
    if (!("version" in load)) return { load: null, sentence: load.sentence };
    const answer = await fetched(urlOf("api/load/cells", loadParams(query)), signal);
    const values = new Float32Array(await answer.arrayBuffer());
    if (values.length === load.cells * (2 * (load.columns.length + 1) + 2)) return { load, cells: { values, cells: load.cells } };
  }
  throw new ApiError("the names and the rates of a load do not fit together", null);
}
