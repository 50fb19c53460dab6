// Who did how much, as a table: the same as the picture, for those who read it or have it read to them.
import type { Load } from "../../api/load.ts";
import { formatRate, formatShare } from "../../charts/load/rate_axis.ts";
import { h } from "../shared/dom.ts";

/** `half`: names of those who make more than half in the marked range. */
export function ranking(load: Load, half: ReadonlySet<string>): HTMLElement {
  const inBand = new Map(load.band?.ranked.map((one) => [one.name, one.share]) ?? []);
  const heads = [load.noun, "operations", "share", "largest rate", ...(load.band === null ? [] : ["share in the range"])];
  const rows = load.columns.map((one) =>
    h(
      "tr",
      { "data-half": half.has(one.name) },
      h("th", { scope: "row" }, one.name === "" ? "(no name)" : one.name),
      h("td", {}, one.ops.toLocaleString("en")),
      h("td", {}, formatShare(one.share)),
      h("td", {}, `${formatRate(one.most)}/s`),
      load.band === null ? null : h("td", {}, `${inBand.has(one.name) ? formatShare(inBand.get(one.name) ?? 0) : "0%"}${half.has(one.name) ? " \u25b2" : ""}`),
    ),
  );
  const more = load.n - load.columns.length;
  const caption = h("caption", {}, more > 0 ? `The ${load.columns.length} largest of ${load.n} ${load.nouns}` : `All ${load.nouns} with operations`);
  const table = h("table", {}, caption, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows));
  return h("details", { class: "numbers" }, h("summary", {}, "The columns as a table"), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The columns as a table" }, table));
}
