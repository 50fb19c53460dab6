// The runs of one job, each a link to its diagram.
import type { Job } from "../../api/jobs.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { h } from "../shared/dom.ts";

export function runChoice(runs: readonly Job[], link: (run: string) => string): HTMLElement {
  const item = (one: Job): HTMLElement => {
    const where = one.fileSystem === "" ? "" : ` on ${one.fileSystem}`;
    const when = one.start === null ? "begin not known" : formatInstant(one.start);
    return h(
      "li",
      {},
      h("a", { href: link(one.run), "data-run": one.run }, h("b", {}, `${one.motif === "" ? "program not known" : one.motif}${where}`), h("span", { class: "list-when" }, one.motif.includes(one.run) ? when : `${one.run}, ${when}`)),
    );
  };
  return h("ul", { class: "run-choice" }, ...runs.map(item));
}
