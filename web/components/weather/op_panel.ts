// One op: heading, what holds now, the picture, and what the cursor stands on.
import type { OpState, Target } from "../../api/generated.ts";
import type { Op } from "../../api/model.ts";
import { after, ms, unixMs } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";
import { Chart } from "../../charts/weather/chart.ts";
import type { PanelModel } from "../../charts/weather/frame.ts";
import type { Palette } from "../../charts/weather/palette.ts";
import { readingAt, readingNow } from "../../charts/weather/reading.ts";
import type { Reading } from "../../charts/weather/reading.ts";
import { rampColour } from "../../charts/shared/ramp.ts";
import { inkOn } from "../../charts/weather/scale.ts";
import { h, setAttribute, setText } from "../shared/dom.ts";
import { saveMenu } from "../shared/save_menu.ts";
import type { FileLink } from "../shared/save_menu.ts";
import { EventMarks } from "./event_marks.ts";
import type { EventMark } from "./event_marks.ts";
import { Tooltip } from "./tooltip.ts";

export interface PanelEvents {
  readonly zoom: (from: UnixMs, to: UnixMs) => void;
  readonly reset: () => void;
  /** Read to people who cannot see the cursor. */
  readonly announce: (text: string) => void;
  /** The address of what is in view as a file. */
  readonly file: FileLink;
  /** The id of the element that says what the chart shows. */
  readonly sentence: string;
}

export class OpPanel {
  readonly element: HTMLElement;
  private readonly op: Op;
  private readonly title = h("h3", { class: "panel-title" });
  private readonly chip = h("span", { class: "panel-factor" });
  private readonly when = h("span", { class: "panel-when" });
  private readonly line = h("span", { class: "panel-line" });
  private readonly host: HTMLElement;
  private readonly tooltip = new Tooltip();
  private readonly chart: Chart;
  private readonly marks: EventMarks;
  private model: PanelModel;
  private palette: Palette;
  private state: OpState | null = null;
  private target: Target | null = null;
  private cursor: UnixMs | null = null;
  /** The cursor was moved here, by mouse or by key, not in another panel. */
  private own = false;
  private keyed = false;
  private readonly watch: ResizeObserver;
  private readonly on: PanelEvents;

  constructor(op: Op, word: string, model: PanelModel, palette: Palette, sync: string, parent: HTMLElement, on: PanelEvents) {
    this.op = op;
    this.model = model;
    this.palette = palette;
    this.on = on;
    this.host = h("div", { class: "panel-chart", tabindex: "0", role: "group", "aria-roledescription": "chart", "aria-describedby": on.sentence });
    this.element = h(
      "section",
      { class: "panel surface", "data-op": op, "aria-labelledby": `title-${op}` },
      h("header", { class: "panel-head" }, this.title, h("code", {}, op), this.chip, saveMenu(`the chart of ${word}`, `its marks: ${word}`, on.file)),
      h("p", { class: "panel-now" }, this.when, this.line),
      this.host,
      this.tooltip.element,
    );
    this.title.id = `title-${op}`;
    parent.append(this.element); // before the chart is made: it asks for its size
    this.chart = new Chart(this.host, model, palette, sync, {
      cursor: (t, own) => this.moved(t, own),
      zoom: on.zoom,
      reset: on.reset,
    });
    this.marks = new EventMarks(this.chart.plotArea);
    this.watch = new ResizeObserver(() => {
      this.chart.resize(this.host.clientWidth, this.host.clientHeight);
      this.marks.place(this.model.from, this.model.to);
    });
    this.watch.observe(this.host);
    this.host.addEventListener("keydown", (event) => this.key(event));
    this.host.addEventListener("blur", () => {
      this.keyed = false;
      this.chart.point(null);
    });
  }

  show(model: PanelModel, state: OpState | null, target: Target | null, word: string): void {
    this.model = model;
    this.state = state;
    this.target = target;
    setText(this.title, word);
    this.chart.show(model);
    this.marks.place(model.from, model.to);
    this.describe();
    this.read();
  }

  /** Events to mark: those of this operation, and those of all. */
  mark(events: readonly EventMark[]): void {
    this.marks.set(events);
    this.marks.place(this.model.from, this.model.to);
  }

  recolour(palette: Palette): void {
    this.palette = palette;
    this.chart.recolour(palette);
    this.read();
  }

  destroy(): void {
    this.watch.disconnect();
    this.chart.destroy();
    this.element.remove();
  }

  /** What is drawn, for tests and for the curious. */
  private describe(): void {
    const { series, live, cells } = this.model;
    const count = (kind: string): string => String(cells.filter((c) => c.kind === kind).length);
    const data = this.element.dataset;
    data["points"] = String((series?.points?.due.length ?? 0) + live.due.length);
    data["live"] = String(live.due.length);
    data["density"] = String(series?.cells?.ok.count.length ?? 0);
    data["windows"] = count("known");
    data["learning"] = count("learning");
    data["missing"] = count("missing");
    data["few"] = count("few");
    const windows = series?.windows;
    const slow = (row: number): boolean => windows?.slow[row] === true && windows.host_busy[row] !== true;
    data["slow"] = String(cells.filter((c) => c.row !== null && slow(c.row)).length);
  }

  private moved(t: UnixMs | null, own: boolean): void {
    this.cursor = t;
    this.own = own || this.keyed;
    this.element.dataset["cursor"] = t === null ? "" : String(Math.round(t));
    this.read();
  }

  private read(): void {
    const t = this.cursor;
    const replayed = t !== null;
    const reading = replayed ? readingAt(this.model, t) : readingNow(this.state, this.target?.state.window ?? null, "last", this.unknown);
    setText(this.chip, reading.slowdown);
    setAttribute(this.chip, "data-bad", reading.bad);
    this.colour(reading);
    setText(this.when, reading.when);
    setText(this.line, reading.line);
    setAttribute(this.element, "data-replayed", replayed);
    setAttribute(this.host, "aria-label", `${this.title.textContent ?? this.op}: ${reading.slowdown}; ${reading.when}: ${reading.line}. Arrow keys move the cursor.`);
    if (t === null || !this.own) this.tooltip.hide();
    else this.tooltip.show(this.host, (t - this.model.from) / (this.model.to - this.model.from), reading);
  }

  /** Why nobody knows how the target is now, as its sentence has it; null: somebody does. */
  private get unknown(): string | null {
    return this.target?.severity === "unknown" ? this.target.brief : null;
  }

  private colour(reading: Reading): void {
    const background = reading.factor === null ? "" : rampColour(reading.factor, this.palette.ramp);
    this.chip.style.backgroundColor = background;
    this.chip.style.color = background === "" ? "" : inkOn(background);
  }

  /** Left and right go a window, with Shift ten; Home and End to the edges; Escape takes the cursor away. */
  private key(event: KeyboardEvent): void {
    const { from, to, window } = this.model;
    const at = this.cursor ?? unixMs(to - window / 2);
    const step = window * (event.shiftKey ? 10 : 1);
    const moves: Record<string, UnixMs | null> = {
      ArrowLeft: this.cursor === null ? at : after(at, ms(-step)),
      ArrowRight: this.cursor === null ? at : after(at, ms(step)),
      Home: after(from, ms(window / 2)),
      End: unixMs(to - window / 2),
      Escape: null,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const t = moves[event.key] ?? null;
    const inside = t === null ? null : unixMs(Math.min(Math.max(t, from), to));
    this.keyed = inside !== null;
    this.chart.point(inside);
    if (inside === null) return;
    const reading = readingAt(this.model, inside);
    this.on.announce(`${this.title.textContent ?? this.op}, ${reading.when}: ${reading.slowdown}; ${reading.line}`);
  }
}
