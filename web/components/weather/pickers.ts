// Range and window pickers: native radio buttons and a native select, so the keyboard works by itself.
import { hours, minutes, ms, seconds } from "../../api/time.ts";
import type { Ms } from "../../api/time.ts";
import { formatSpan } from "../../charts/shared/format.ts";
import { h, setAttribute } from "../shared/dom.ts";

export interface RangeChoice {
  readonly id: string;
  readonly label: string;
  readonly length: Ms;
  /** The window that suits the range at one operation a second. */
  readonly window: Ms;
}

export const RANGES: readonly RangeChoice[] = [
  { id: "2m", label: "2 min", length: minutes(2), window: seconds(10) },
  { id: "10m", label: "10 min", length: minutes(10), window: seconds(30) },
  { id: "1h", label: "1 h", length: hours(1), window: minutes(1) },
  { id: "6h", label: "6 h", length: hours(6), window: minutes(5) },
  { id: "24h", label: "24 h", length: hours(24), window: minutes(15) },
  { id: "7d", label: "7 d", length: hours(168), window: hours(1) },
  { id: "30d", label: "30 d", length: hours(720), window: hours(4) },
  { id: "90d", label: "90 d", length: hours(2160), window: hours(4) },
  { id: "1y", label: "1 y", length: hours(8760), window: hours(24) },
];

export const WINDOWS: readonly Ms[] = [
  seconds(10),
  seconds(30),
  minutes(1),
  minutes(5),
  minutes(15),
  hours(1),
  hours(4),
  hours(24),
];

/** More cells than this do not fit on a screen. */
const MOST_CELLS = 720;
/** A window shorter than this many periods has no median with an interval. */
const FEWEST_PERIODS = 10;

export const rangeById = (id: string): RangeChoice | null => RANGES.find((r) => r.id === id) ?? null;

/** The window for "auto": the range's own, or longer when operations are rare. */
export function autoWindow(range: Ms, suited: Ms, period: Ms | null): Ms {
  const needed = ms(FEWEST_PERIODS * (period ?? 0));
  const long = WINDOWS.find((w) => w >= suited && w >= needed) ?? WINDOWS[WINDOWS.length - 1] ?? suited;
  return fitting(long, range) ? long : (WINDOWS.find((w) => w >= needed && fitting(w, range)) ?? suited);
}

/** Whether a range can be shown with this window: not too many cells and at least one. */
export const fitting = (window: Ms, range: Ms): boolean => window <= range && range / window <= MOST_CELLS;

/** The suited window of a range that is not one of ours (a zoom): as many cells as the nearest longer one. */
export function suitedWindow(range: Ms): Ms {
  const choice = RANGES.find((r) => r.length >= range) ?? RANGES[RANGES.length - 1];
  return choice?.window ?? seconds(10);
}

export class RangePicker {
  readonly element: HTMLFieldSetElement;
  private readonly inputs = new Map<string, HTMLInputElement>();

  constructor(choose: (range: RangeChoice) => void) {
    const labels = RANGES.map((range) => {
      const input = h("input", { type: "radio", name: "range", value: range.id });
      // Not "change": a click on the range that is already picked brings a zoomed or paused page back to it.
      input.addEventListener("click", () => choose(range));
      this.inputs.set(range.id, input);
      return h("label", {}, input, h("span", {}, range.label));
    });
    this.element = h("fieldset", { class: "segments" }, h("legend", {}, "last"), ...labels);
  }

  /** null: a zoomed span, none of ours. */
  show(id: string | null): void {
    for (const [key, input] of this.inputs) input.checked = key === id;
  }
}

export class WindowPicker {
  readonly element: HTMLLabelElement;
  private readonly select = h("select", { name: "window" });
  private readonly auto = h("option", { value: "auto" });
  private readonly options = new Map<Ms, HTMLOptionElement>();

  constructor(choose: (window: Ms | null) => void) {
    this.select.append(this.auto);
    for (const window of WINDOWS) {
      const option = h("option", { value: String(window) }, formatSpan(window));
      this.options.set(window, option);
      this.select.append(option);
    }
    this.select.addEventListener("change", () => {
      choose(this.select.value === "auto" ? null : ms(Number(this.select.value)));
    });
    this.element = h("label", { class: "window-picker" }, h("span", {}, "window"), this.select);
  }

  /** `picked` null: auto, which stands for `used` now. */
  show(picked: Ms | null, used: Ms, range: Ms): void {
    this.auto.textContent = `auto (${formatSpan(used)})`;
    for (const [window, option] of this.options) setAttribute(option, "disabled", !fitting(window, range));
    this.select.value = picked === null ? "auto" : String(picked);
  }
}
