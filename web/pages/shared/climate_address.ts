// Which climate is looked at, in the address after the #.
import type { ClimateQuery } from "../../api/climate.ts";

/** `on`: the day of the event that is open; `2017-08-04.2` is the second one of that day. */
export interface ClimateAddress {
  readonly query: ClimateQuery;
  readonly on: string | null;
}

export const ALL: ClimateAddress = { query: { fileSystem: null, motif: null, since: null, until: null }, on: null };

const day = (text: string | null): string | null =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) ? text : null;

function event(text: string | null): string | null {
  const [, date, number] = /^(\d{4}-\d\d-\d\d)(\.[1-9]\d{0,3})?$/.exec(text ?? "") ?? [];
  return date === undefined || day(date) === null ? null : date + (number ?? "");
}

/** null: the address is not that of a climate. `#/climate?motif=...` is one, too. */
export function readClimateAddress(hash: string): ClimateAddress | null {
  const params = new URLSearchParams(hash.replace(/^#\/climate(?:\?|$)/, "#page=climate&").replace(/^#/, ""));
  if (params.get("page") !== "climate") return null;
  return {
    query: { fileSystem: params.get("file_system"), motif: params.get("motif"), since: day(params.get("since")), until: day(params.get("until")) },
    on: event(params.get("on")),
  };
}

export function climateAddress({ query, on }: ClimateAddress): string {
  const params = new URLSearchParams({ page: "climate" });
  const parts = { file_system: query.fileSystem, motif: query.motif, since: query.since, until: query.until, on };
  for (const [name, value] of Object.entries(parts)) if (value !== null) params.set(name, value);
  return `#${params.toString()}`;
}
