// A climate: what changed on which date beside the panes of all file systems, and what the cursor stands on.
import type { DrawnClimate, RunName } from "../../api/climate.ts";
import { segmentAt } from "../../charts/climate/geometry.ts";
import { utcDay, utcMinute } from "../../charts/climate/utc.ts";
import { Happenings } from "./events.ts";
import type { Pane } from "./pane.ts";
import { PlaceView } from "./place.ts";
import { changesTable, climatesInWords } from "./tables.ts";
import { h, setAttribute, setText } from "../shared/dom.ts";

const LOW = 78;
const HIGH = 150;
/** So many motifs or fewer are drawn high. */
const FEW = 3;
const HINT = "point at a run to see which job it was, click to open its diagram; with the keyboard: arrows, page keys, enter";

export interface ClimateEvents {
  /** The address of a job's diagram. */
  readonly link: (run: RunName) => string;
  /** The key of the event that is to be open; null: none. */
  readonly choose: (key: string | null) => void;
}

export class ClimateView {
  readonly element: HTMLElement;
  private readonly places: PlaceView[];
  private readonly happenings: Happenings;
  private readonly words = h("span", { role: "status" });
  private readonly job = h("a", { hidden: true });
  private readonly reading = h("p", { class: "climate-reading", "data-empty": true }, this.words, " ", this.job);
  private readonly watch: ResizeObserver;
  private readonly link: ClimateEvents["link"];

  constructor(climate: DrawnClimate, on: ClimateEvents) {
    this.link = on.link;
    const height = climate.motifs.length <= FEW ? HIGH : LOW;
    const panes = {
      cursor: (pane: Pane, index: number | null): void => this.point(pane, index),
      open: (run: RunName): void => {
        location.hash = on.link(run);
      },
    };
    this.places = climate.places.map((place) => new PlaceView(climate, place, height, panes));
    this.happenings = new Happenings(climate, on.choose);
    const drawn = h("div", { class: "climate-places" }, ...this.places.map((place) => place.element));
    this.element = h(
      "div",
      { class: "climate" },
      this.happenings.element,
      h(
        "div",
        { class: "climate-drawn" },
        drawn,
        ...(this.places.length === 0 ? [] : [this.reading, caption(climate), changesTable(climate), climatesInWords(climate)]),
      ),
    );
    this.watch = new ResizeObserver(() => {
      for (const place of this.places) place.draw();
    });
    this.watch.observe(drawn);
  }

  /** Opens the event of a key. */
  open(key: string | null): void {
    const event = this.happenings.open(key);
    for (const place of this.places) place.happened(event);
  }

  destroy(): void {
    this.watch.disconnect();
  }

  private point(pane: Pane, index: number | null): void {
    const time = index === null ? null : (pane.series.times[index] ?? null);
    for (const place of this.places) for (const one of place.panes) one.cursor(time, one === pane ? index : null);
    const run = index === null ? undefined : pane.series.runs[index];
    this.job.hidden = run === undefined;
    setAttribute(this.reading, "data-empty", run === undefined);
    if (run === undefined || index === null || time === null) return setText(this.words, "");
    const { motif, file_system, values } = pane.series;
    const value = values[index] ?? null;
    const part = segmentAt(pane.series, index);
    const where = file_system === "" ? "" : ` on ${file_system}`;
    const own = part === null || part.of_own_peak_ratio === null ? "" : `, ${part.of_own_peak_ratio.toFixed(2)} of its own best run`;
    const among = part === null ? "" : `; from ${utcDay(part.start)} to ${utcDay(part.end)} the median is ${part.median.toFixed(2)} (n = ${part.n}${own})`;
    setText(this.words, `${motif}${where}, ${utcMinute(time)} UTC: ${value === null ? "missing" : value.toFixed(2)} of its peak${among}`);
    this.job.href = this.link(run);
    setText(this.job, `job ${run.job}`);
  }
}

const caption = (climate: DrawnClimate): HTMLElement =>
  h("ul", { class: "climate-caption" }, ...[HINT, ...climate.caption, "all dates are UTC"].map((line) => h("li", {}, line)));
