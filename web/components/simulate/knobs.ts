// What a reader turns: sliders, each with its number, and the order in which operations are executed.
import { DISCIPLINES } from "../../api/simulate.ts";
import type { Discipline, Knobs, SimulateQuery } from "../../api/simulate.ts";
import { h, setText } from "../shared/dom.ts";

export interface Knob {
  readonly name: keyof Knobs;
  readonly words: string;
  readonly unit: string;
  readonly least: number;
  readonly most: number;
  readonly start: number;
  /** Places of the slider are powers: small values have as much room as large ones. */
  readonly powers: boolean;
}

/** The limits are those of the API. */
export const KNOBS: readonly Knob[] = [
  { name: "service_ticks", words: "N: time of one operation", unit: "ticks", least: 1, most: 100, start: 4, powers: true },
  { name: "queue", words: "M: room in the queue", unit: "operations", least: 1, most: 10_000, start: 500, powers: true },
  { name: "processes", words: "Processes that read and write", unit: "", least: 0, most: 16, start: 2, powers: false },
  { name: "writes", words: "Writes among their operations", unit: "%", least: 0, most: 100, start: 33, powers: false },
  { name: "writers", words: "Writers without end", unit: "", least: 0, most: 4, start: 1, powers: false },
  { name: "ticks", words: "Length", unit: "ticks", least: 1000, most: 200_000, start: 20_000, powers: true },
  { name: "seed", words: "Seed", unit: "", least: 0, most: 99, start: 1, powers: false },
];
const ORDER: Readonly<Record<Discipline, string>> = { fifo: "first in, first out", fair: "clients in turn", "reads-first": "reads first" };
const STEPS = 120;

/** Two significant digits on a slider of powers. */
export function valueAt({ least, most, powers }: Knob, place: number): number {
  if (!powers) return place;
  const value = least * (most / least) ** (place / STEPS);
  return Math.min(most, Math.max(least, Math.round(Number(value.toPrecision(2)))));
}

export const placeOf = ({ least, most, powers }: Knob, value: number): number =>
  powers ? Math.round((STEPS * Math.log(value / least)) / Math.log(most / least)) : value;

/** The next place whose number differs: small values stand at several places of a slider of powers. */
export function stepped(knob: Knob, value: number, by: 1 | -1): number {
  const last = knob.powers ? STEPS : knob.most;
  for (let place = placeOf(knob, value); place >= 0 && place <= last; place += by) {
    const found = valueAt(knob, place);
    if (by > 0 ? found > value : found < value) return found;
  }
  return by > 0 ? knob.most : knob.least;
}

export class KnobPanel {
  readonly element: HTMLElement;
  private query: SimulateQuery;
  private readonly sliders = new Map<keyof Knobs, { input: HTMLInputElement; output: HTMLElement }>();
  private readonly order = h("select", { name: "discipline" });
  private readonly changed: (query: SimulateQuery) => void;

  constructor(start: SimulateQuery, changed: (query: SimulateQuery) => void) {
    this.query = start;
    this.changed = changed;
    this.order.append(...DISCIPLINES.map((one) => h("option", { value: one }, ORDER[one])));
    this.order.addEventListener("change", () => this.turned({ ...this.query, discipline: DISCIPLINES.find((one) => one === this.order.value) ?? "fifo" }));
    this.element = h("form", { class: "knobs surface", "aria-label": "Parameters" }, ...KNOBS.map((knob) => this.slider(knob)), h("label", { class: "knob" }, h("span", { class: "knob-words" }, "Order in the queue"), this.order));
    this.element.addEventListener("submit", (event) => event.preventDefault());
    this.show(start);
  }

  show(query: SimulateQuery): void {
    this.query = query;
    this.order.value = query.discipline;
    for (const knob of KNOBS) {
      const value = query.knobs[knob.name];
      const { input, output } = this.sliders.get(knob.name) ?? {};
      if (input === undefined || output === undefined) continue;
      if (valueAt(knob, Number(input.value)) !== value) input.value = String(placeOf(knob, value));
      const words = [value.toLocaleString("en"), knob.unit].filter((word) => word !== "").join(" ");
      setText(output, words);
      input.setAttribute("aria-valuetext", words);
    }
  }

  private turned(query: SimulateQuery): void {
    this.show(query);
    this.changed(query);
  }

  private slider(knob: Knob): HTMLElement {
    const most = knob.powers ? STEPS : knob.most;
    const input = h("input", { type: "range", name: knob.name, min: String(knob.powers ? 0 : knob.least), max: String(most), step: "1", "aria-label": knob.words });
    const output = h("span", { class: "knob-value" });
    this.sliders.set(knob.name, { input, output });
    const turn = (value: number): void => this.turned({ ...this.query, knobs: { ...this.query.knobs, [knob.name]: value } });
    input.addEventListener("input", () => turn(valueAt(knob, Number(input.value))));
    input.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key] as 1 | -1 | undefined;
      if (by === undefined) return;
      event.preventDefault();
      turn(stepped(knob, this.query.knobs[knob.name], by));
    });
    return h("label", { class: "knob" }, h("span", { class: "knob-words" }, knob.words, output), input);
  }
}
