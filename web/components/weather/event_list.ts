// Events of a target in the range in view, the newest first: each is a link to why.
import type { Annotation } from "../../api/generated.ts";
import type { NewestEvents } from "../../api/why.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { h, setText } from "../shared/dom.ts";

/** So many are seen at once; the others after a click. */
const FEW = 5;

export class EventList {
  readonly element: HTMLElement;
  private readonly items = h("ol", { class: "event-items" });
  private readonly missing = h("ul", { class: "event-missing hint", hidden: true });
  private readonly status = h("p", { class: "event-status hint" });
  private readonly more = h("button", { type: "button", class: "quiet", hidden: true });
  private readonly link: (event: Annotation) => string;
  private every: readonly Annotation[] = [];
  private all = false;

  /** `link`: the address of the answer to why. */
  constructor(link: (event: Annotation) => string) {
    this.link = link;
    this.more.addEventListener("click", () => {
      this.all = true;
      this.draw();
    });
    this.element = h("section", { class: "events surface", "aria-labelledby": "events-title" }, h("h3", { id: "events-title" }, "Events in this range"), this.status, this.items, this.more, this.missing);
  }

  show({ total, events, not_judged, peers }: NewestEvents): void {
    this.every = events;
    const none = not_judged.length === 0 ? "None: nothing was slow, hung or lost." : "None in what was judged.";
    setText(this.status, total === 0 ? none : total > events.length ? `The newest ${events.length} of ${total}.` : "");
    this.status.hidden = this.status.textContent === "";
    const lines = [...peers, ...not_judged];
    this.missing.replaceChildren(...lines.map((line) => h("li", {}, line)));
    this.missing.hidden = lines.length === 0;
    this.draw();
  }

  /** What keeps it from being known. */
  say(words: string): void {
    this.every = [];
    setText(this.status, words);
    this.status.hidden = false;
    this.missing.hidden = true;
    this.draw();
  }

  private draw(): void {
    const shown = this.all ? this.every : this.every.slice(0, FEW);
    this.items.replaceChildren(...shown.map((event) => h("li", { "data-kind": event.kind }, this.item(event))));
    this.more.hidden = shown.length === this.every.length;
    setText(this.more, `show all ${this.every.length}`);
  }

  private item(event: Annotation): HTMLElement {
    const when = h("time", { datetime: new Date(event.time).toISOString(), class: "event-when hint" }, formatInstant(event.time));
    if (event.id === null) return h("span", { class: "event-row" }, when, h("span", {}, event.text));
    const why = h("span", { class: "event-why", "aria-hidden": "true" }, "why?");
    return h("a", { class: "event-row", href: this.link(event), title: "why was it slow" }, when, h("span", {}, event.text), why);
  }
}
