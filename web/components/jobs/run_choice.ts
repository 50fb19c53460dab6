// The runs of one job, each a link to its diagram.
import type { ListedJob } from "../../api/generated.ts";
import { motifOf } from "../../api/jobs.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { h } from "../shared/dom.ts";

export function runChoice(runs: readonly ListedJob[], link: (run: string) => string): HTMLElement {
  const item = (one: ListedJob): HTMLElement => {
    const where = one.file_system === "" ? "" : ` on ${one.file_system}`;
    const when = one.start === null ? "begin not known" : formatInstant(one.start);
    return h(
      "li",
      {},
      h("a", { href: link(one.run), "data-run": one.run }, h("b", {}, `${motifOf(one) || "program not known"}${where}`), h("span", { class: "list-when" }, motifOf(one).includes(one.run) ? when : `${one.run}, ${when}`)),
    );
  };
  return h("ul", { class: "run-choice" }, ...runs.map(item));
}
