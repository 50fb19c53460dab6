// Events on a panel's plot: a bracket from begin to end, above it a word that leads to the event. Without colour, too:
// an end that nobody saw is open and dashed. Screen readers get the same as a list of links.
import type { UnixMs } from "../../api/time.ts";
import { bracketed, labelPlaces } from "../../charts/weather/brackets.ts";
import type { Bracket } from "../../charts/weather/brackets.ts";
import { h, setAttribute } from "../shared/dom.ts";

export interface EventMark extends Bracket {
  /** Another one when its sentence or its reason's place changes. */
  readonly key: string;
  /** One or two words. */
  readonly label: string;
  readonly sentence: string;
  /** Where the reason stands; null: nobody can say. */
  readonly href: string | null;
}

interface Shown {
  readonly item: HTMLElement;
  readonly label: HTMLElement;
  readonly word: HTMLElement;
}

/** CSS pixels at both sides of a label's word together. */
const PADDING = 10;

export class EventMarks {
  private readonly element = h("ul", { class: "event-marks", "aria-label": "Events" });
  private readonly plot: HTMLElement;
  private readonly shown = new Map<string, Shown>();
  private marks: readonly EventMark[] = [];

  /** `plot`: the drawing area of a chart, as wide as its time axis. */
  constructor(plot: HTMLElement) {
    this.plot = plot;
    plot.append(this.element);
  }

  set(marks: readonly EventMark[]): void {
    // What stays keeps its element: it may have the focus.
    const kept = new Set(marks.map((mark) => mark.key));
    for (const [key, { item }] of this.shown) {
      if (kept.has(key)) continue;
      item.remove();
      this.shown.delete(key);
    }
    this.marks = [...marks].sort((a, b) => a.begin - b.begin);
    for (const mark of this.marks) if (!this.shown.has(mark.key)) this.shown.set(mark.key, this.made(mark));
  }

  /** Puts them where the axis from `from` to `to` has them; what lies outside is hidden. */
  place(from: UnixMs, to: UnixMs): void {
    const width = this.plot.clientWidth;
    const inView = this.marks.flatMap((mark) => {
      const at = bracketed(mark, from, to);
      const found = this.shown.get(mark.key);
      if (found !== undefined) found.item.hidden = at === null;
      return at === null || found === undefined ? [] : [{ at, found }];
    });
    const labels = labelPlaces(inView.map(({ at, found }) => [at.left * width, found.word.offsetWidth + PADDING] as const), width);
    inView.forEach(({ at, found }, i) => {
      found.item.style.left = `${100 * at.left}%`;
      found.item.style.width = `${100 * (at.right - at.left)}%`;
      setAttribute(found.item, "data-cut", at.cut);
      setAttribute(found.item, "data-open", at.open);
      const left = labels[i] ?? null;
      setAttribute(found.label, "data-short", left === null);
      found.label.style.left = left === null ? "" : `${left - at.left * width}px`;
    });
    this.element.hidden = inView.length === 0;
  }

  private made({ label, sentence, href }: EventMark): Shown {
    const word = h("span", {}, label);
    const parts = [word, h("span", { class: "visually-hidden" }, `: ${sentence}`)];
    const made = href === null ? h("span", { class: "event-label", title: sentence }, ...parts) : h("a", { class: "event-label", href, title: sentence }, ...parts);
    // The plot takes a press for the begin of a zoom.
    for (const kind of ["mousedown", "dblclick"] as const) made.addEventListener(kind, (event) => event.stopPropagation());
    const item = h("li", { class: "span-mark" }, made);
    this.element.append(item);
    return { item, label: made, word };
  }
}
