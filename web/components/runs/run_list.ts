// Runs to choose from, the newest first; a second one can be chosen to compare with.
import type { ListedRun, Runs } from "../../api/generated.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { h, setText } from "../shared/dom.ts";

export interface RunListEvents {
  readonly link: (run: string) => string;
  /** null: all of them. */
  readonly filter: (kind: string | null, target: string | null) => void;
}

export class RunItems {
  readonly element: HTMLElement;
  private readonly kind = h("select", { "aria-label": "Benchmark" });
  private readonly target = h("select", { "aria-label": "Target" });
  private readonly count = h("p", { class: "list-count", role: "status" });
  private readonly items = h("ul", { class: "list-items surface" });
  private readonly on: RunListEvents;

  constructor(on: RunListEvents) {
    this.on = on;
    for (const select of [this.kind, this.target]) {
      select.addEventListener("change", () => this.on.filter(this.kind.value === "" ? null : this.kind.value, this.target.value === "" ? null : this.target.value));
    }
    this.element = h("section", { class: "list runs-list", "aria-label": "Runs" }, h("div", { class: "runs-pickers" }, this.kind, this.target), this.count, this.items);
  }

  show(found: Runs, kind: string | null, target: string | null, chosen: readonly (string | null)[]): void {
    choices(this.kind, "all benchmarks", found.kinds, kind);
    choices(this.target, "all targets", found.targets, target);
    setText(this.count, found.total === found.n ? `${found.n} run${found.n === 1 ? "" : "s"}` : `${found.total} of ${found.n} runs`);
    this.items.replaceChildren(...found.runs.map((one) => this.item(one, chosen)));
  }

  private item(one: ListedRun, chosen: readonly (string | null)[]): HTMLElement {
    const place = chosen.indexOf(one.run);
    const when = `${formatInstant(one.began)}${one.finished ? "" : ", not finished"}`;
    return h(
      "li",
      {},
      h(
        "a",
        { href: this.on.link(one.run), "aria-current": place === 0 ? "true" : null, "data-run": one.run },
        h("span", { class: "list-name" }, h("b", {}, `${one.kind} on ${one.target}`), h("span", { class: "list-when" }, when)),
        h("span", { class: "list-what" }, one.headline),
      ),
    );
  }
}

function choices(select: HTMLSelectElement, all: string, names: readonly string[], chosen: string | null): void {
  const known = chosen === null || names.includes(chosen) ? names : [...names, chosen];
  select.replaceChildren(h("option", { value: "" }, all), ...known.map((name) => h("option", { value: name }, name)));
  select.value = chosen ?? "";
}
