// What changed on which date across file systems: the sentences of the terminal. One may be open, with what is behind it.
import type { ClimateEvent } from "../../api/generated.ts";
import type { DrawnClimate } from "../../api/climate.ts";
import { utcDay } from "../../charts/climate/utc.ts";
import { h, setAttribute } from "../shared/dom.ts";

const HEAD_PX = 8;

export class Happenings {
  readonly element: HTMLElement;
  private readonly items: { readonly event: ClimateEvent; readonly key: string; readonly button: HTMLElement; readonly more: HTMLElement }[];

  /** `choose` gets the key of the event that is to be open: its day, `2017-08-04.2` for the second of a day; null: none. */
  constructor(climate: DrawnClimate, choose: (key: string | null) => void) {
    const days = climate.events.map((event) => utcDay(event.at));
    this.items = climate.events.map((event, i) => {
      const day = utcDay(event.at);
      const before = days.slice(0, i).filter((other) => other === day).length;
      const key = before === 0 ? day : `${day}.${before + 1}`;
      const changes = event.changes.length;
      const button = h(
        "button",
        { type: "button", class: "climate-event", "aria-controls": `event-${i}` },
        h("span", { class: "climate-when" }, h("b", {}, day), h("span", {}, `${changes} ${changes === 1 ? "series" : "series together"}`)),
        event.sentence,
      );
      const more = h(
        "div",
        { id: `event-${i}`, class: "climate-more" },
        ...lines("One by one", event.changes.map((one) => one.sentence)),
        ...lines("At that time also", event.along),
      );
      button.addEventListener("click", () => choose(button.getAttribute("aria-expanded") === "true" ? null : key));
      return { event, key, button, more };
    });
    this.element = h(
      "section",
      { class: "climate-events surface", "aria-labelledby": "climate-events-title" },
      h("h3", { id: "climate-events-title" }, "What changed on which date"),
      this.items.length === 0 ? h("p", {}, "No lasting change was found.") : h("ol", {}, ...this.items.map(({ button, more }) => h("li", {}, button, more))),
    );
  }

  /** Opens the event of a key; what is open is returned. */
  open(key: string | null): ClimateEvent | null {
    const found = this.items.find((item) => item.key === key) ?? null;
    for (const item of this.items) {
      setAttribute(item.button, "aria-expanded", item === found ? "true" : "false");
      item.more.hidden = item !== found;
    }
    if (found !== null) this.reveal(found.button);
    return found?.event ?? null;
  }

  /** Scrolls the list, not the page. */
  private reveal(button: HTMLElement): void {
    const { scrollTop, clientHeight } = this.element;
    const top = button.offsetTop;
    if (top < scrollTop || top + button.offsetHeight > scrollTop + clientHeight) this.element.scrollTop = top - HEAD_PX;
  }
}

const lines = (title: string, words: readonly string[]): HTMLElement[] =>
  words.length === 0 ? [] : [h("h4", {}, title), h("ul", { class: "bullets" }, ...words.map((line) => h("li", {}, line)))];
