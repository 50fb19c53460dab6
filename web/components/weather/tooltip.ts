// A box beside the cursor with the whole reading. It never covers what the cursor points at.
import type { Reading } from "../../charts/weather/reading.ts";
import { h, setText } from "../shared/dom.ts";

export class Tooltip {
  readonly element: HTMLElement;
  private readonly when = h("span", { class: "tip-when" });
  private readonly slowdown = h("strong", {});
  private readonly list = h("ul", {});

  constructor() {
    this.element = h(
      "div",
      { class: "tip", role: "tooltip", hidden: true },
      this.when,
      this.slowdown,
      this.list,
    );
  }

  /** `share`: where the cursor stands between the left (0) and the right (1) edge of the plot. */
  show(over: HTMLElement, share: number, reading: Reading): void {
    setText(this.when, reading.when);
    setText(this.slowdown, reading.slowdown);
    this.list.replaceChildren(...reading.tip.map((line) => h("li", {}, line)));
    this.element.hidden = false;
    const plot = over.querySelector<HTMLElement>(".u-over");
    const left = (plot?.offsetLeft ?? 0) + share * (plot?.offsetWidth ?? over.clientWidth);
    const width = this.element.offsetWidth;
    const place = share < 0.5 ? left + 14 : left - 14 - width;
    this.element.style.left = `${Math.max(0, Math.min(place, over.clientWidth - width))}px`;
    this.element.style.top = `${over.offsetTop + 6}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
