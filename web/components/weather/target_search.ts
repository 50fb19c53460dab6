// What all targets amount to in one line, and a field to search in them where they are many.
import { h, setText } from "../shared/dom.ts";

/** So many cards are seen at once. */
const MANY = 6;

export class TargetSearch {
  readonly element: HTMLElement;
  private readonly line = h("p", { class: "targets-summary", role: "status" });
  private readonly fleet = h("p", { class: "targets-fleet", hidden: true });
  private readonly input = h("input", { type: "search", placeholder: "target, host, word of the sentence", "aria-label": "Search targets", autocomplete: "off" });

  constructor(changed: () => void) {
    this.element = h("div", { class: "targets-head" }, h("div", {}, this.line, this.fleet), this.input);
    this.input.addEventListener("input", changed);
  }

  get words(): string {
    return this.input.value.trim();
  }

  /** `summary`: of all `n` targets, `shown` of which have the words; `fleet`: this node or the storage. */
  show(summary: string, fleet: string, shown: number, n: number): void {
    this.input.hidden = n <= MANY && this.words === "";
    this.element.hidden = summary === "" && fleet === "";
    setText(this.fleet, fleet);
    this.fleet.hidden = fleet === "";
    setText(this.line, shown === n ? summary : `${summary}; ${shown} shown`);
  }
}
