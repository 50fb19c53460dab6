// Parts of the page about the server: a table of costs, the glossary.
import type { Costs, Section } from "../../api/generated.ts";
import { h } from "../shared/dom.ts";
import { tableOf } from "../shared/table.ts";

export function costTable({ sentence, total, probes }: Costs): HTMLElement {
  if (probes.length === 0) return h("p", {}, "No probe runs, so watching costs nothing now.");
  const head = ["Target", "Seen from", "What the probe asks for"];
  const rows = probes.map((one) => [one.target, one.host, one.sentence]);
  const more = total > probes.length ? h("p", { class: "hint" }, `The first ${probes.length} of ${total} probes.`) : null;
  return h("div", { class: "about-cost" }, h("p", { class: "about-sum" }, sentence), tableOf({ head, rows }, "Cost of each probe"), more);
}

/** Code stands in backquotes. */
function marked(text: string): (HTMLElement | string)[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));
}

export function glossaryList(sections: readonly Section[], words: string): HTMLElement {
  const wanted = words.toLowerCase();
  const kept = sections
    .map(({ title, words: rows }) => ({ title, rows: rows.filter((one) => `${one.word} ${one.meaning}`.toLowerCase().includes(wanted)) }))
    .filter(({ rows }) => rows.length > 0);
  if (kept.length === 0) return h("p", {}, sections.length === 0 ? "This copy of iosonde was installed without its glossary." : "No word matches.");
  const part = ({ title, rows }: (typeof kept)[number]): HTMLElement =>
    h("section", {}, h("h4", {}, title), h("dl", { class: "glossary" }, ...rows.flatMap((one) => [h("dt", {}, one.word), h("dd", {}, ...marked(one.meaning))])));
  return h("div", {}, ...kept.map(part));
}
