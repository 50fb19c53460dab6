// Who did how much, as a table: the same as the picture, for those who read it or have it read to them.
import type { Load } from "../../api/generated.ts";
import { formatRate, formatShare } from "../../charts/load/rate_axis.ts";
import { folded, tableElement } from "../shared/table.ts";

/** `half`: names of those who make more than half in the marked range. */
export function ranking(load: Load, half: ReadonlySet<string>): HTMLElement {
  const inBand = new Map(load.band?.ranked.map((one) => [one.name, one.share]) ?? []);
  const head = [load.noun, "operations", "share", "largest rate", ...(load.band === null ? [] : ["share in the range"])];
  const share = (name: string): string => `${inBand.has(name) ? formatShare(inBand.get(name) ?? 0) : "0%"}${half.has(name) ? " \u25b2" : ""}`;
  const rows = load.columns.map((one) => [
    one.name === "" ? "(no name)" : one.name,
    one.ops.toLocaleString("en"),
    formatShare(one.share),
    `${formatRate(one.most_per_s)}/s`,
    ...(load.band === null ? [] : [share(one.name)]),
  ]);
  const more = load.n - load.columns.length;
  const caption = more > 0 ? `The ${load.columns.length} largest of ${load.n} ${load.nouns}` : `All ${load.nouns} with operations`;
  const mark = (row: number): Readonly<Record<string, boolean>> => ({ "data-half": half.has(load.columns[row]?.name ?? "") });
  return folded("The columns as a table", tableElement({ head, rows }, caption, mark));
}
