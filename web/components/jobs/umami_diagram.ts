// The diagram of a job: its rows, one axis of time, what the cursor stands on, and the same as a table.
import type { Umami, UmamiRow } from "../../api/generated.ts";
import { umamiFigure } from "../../api/jobs.ts";
import type { UmamiFigure } from "../../api/jobs.ts";
import type { UnixMs } from "../../api/time.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { tickLabels, tickStep, timeTicks } from "../../charts/shared/time_ticks.ts";
import { zoneName } from "../../charts/shared/zone.ts";
import { folded, tableElement } from "../shared/table.ts";
import { h, setText, svg } from "../shared/dom.ts";
import { areas, RowView } from "./umami_row.ts";

export class Diagram {
  readonly element: HTMLElement;
  private readonly figure: UmamiFigure;
  private readonly rows: RowView[];
  private readonly axis = h("div", { class: "umami-draw umami-axis", "aria-hidden": "true" });
  private readonly reading = h("p", { class: "umami-reading", role: "status" });
  private readonly watch: ResizeObserver;

  constructor(found: Umami) {
    const figure = umamiFigure(found);
    this.figure = figure;
    this.rows = figure.rows.map((row) => new RowView(figure, row, { cursor: (r, i) => this.point(r, i) }));
    this.element = h(
      "div",
      { class: "umami surface" },
      verdict(found),
      ...this.rows.map((row) => row.element),
      h("div", { class: "umami-row" }, h("div", { class: "umami-words" }), this.axis),
      this.reading,
      h("ul", { class: "umami-caption" }, h("li", {}, `star, dashed line: the job${figure.dated ? `; times are ${zoneName(figure.since)}` : ""}`), ...figure.caption.map((line) => h("li", {}, line))),
      numbers(figure),
    );
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.axis);
    this.point(null, null);
  }

  destroy(): void {
    this.watch.disconnect();
  }

  private draw(): void {
    const width = this.axis.clientWidth;
    if (width <= 0) return;
    for (const row of this.rows) row.draw(width);
    this.axis.replaceChildren(this.figure.dated && this.rows.length > 0 ? timeAxis(this.figure, width) : "");
  }

  private point(row: UmamiRow | null, index: number | null): void {
    for (const view of this.rows) view.point(index);
    if (row === null || index === null) return setText(this.reading, "\u00a0");
    const time = this.figure.times[index];
    const value = row.values[index] ?? null;
    const when = time === undefined || !this.figure.dated ? "" : `, ${formatInstant(time)}`;
    setText(this.reading, `${row.label}${when}: ${value === null ? "missing" : `${short(value)}${row.unit.startsWith("%") ? "" : " "}${row.unit}`.trim()}${index === this.figure.place ? " (the job)" : ""}`);
  }
}

/** The sentence and what is behind it. */
function verdict(found: Umami): HTMLElement {
  const { verdict: word, sentence, evidence, rejected, history, notes } = found;
  const lines = [...evidence, ...[rejected, history].filter((line) => line !== "")];
  const list = (texts: readonly string[]): HTMLElement => h("ul", { class: "bullets" }, ...texts.map((text) => h("li", {}, text)));
  const about = notes.length === 1 ? "1 note on the data" : `${notes.length} notes on the data`;
  const aside = notes.length === 0 ? null : h("details", {}, h("summary", {}, about), list(notes));
  return h("div", { class: "umami-verdict", "data-verdict": word }, h("p", { id: "umami-sentence" }, sentence), list(lines), aside);
}

const short = (value: number): string => (value === 0 ? "0" : String(Number(value.toPrecision(3))));

function timeAxis(figure: UmamiFigure, width: number): SVGElement {
  const { runs } = areas(width);
  const ticks = timeTicksOf(figure, Math.max(2, Math.floor(runs.width / 80)));
  const picture = svg("svg", { width: String(width), height: "22" });
  const labels = tickLabels(ticks.times, ticks.step);
  ticks.times.forEach((time, i) => {
    const x = String(runs.left + (runs.width * (time - figure.since)) / (figure.until - figure.since));
    picture.append(svg("line", { class: "chart-edge", x1: x, x2: x, y1: "0", y2: "4" }));
    picture.append(svg("text", { class: "chart-tick", x, y: "17", "text-anchor": "middle" }, labels[i] ?? ""));
  });
  return picture;
}

function timeTicksOf(figure: UmamiFigure, most: number): { times: UnixMs[]; step: ReturnType<typeof tickStep> } {
  const step = tickStep(figure.since, figure.until, most);
  return { times: timeTicks(figure.since, figure.until, step), step };
}

/** For people who cannot see the diagram, and for who wants the numbers. */
function numbers(figure: UmamiFigure): HTMLElement {
  const head = ["metric", "value", "class", "where it stands", "n", "q25", "q50", "q75", "unit"];
  const cell = (value: number | undefined): string => (value === undefined ? "" : short(value));
  const rows = figure.rows.map((row) => [row.label, row.value_text, `${row.sign} ${row.role}`, row.rank, String(row.n), cell(row.box?.q25), cell(row.box?.q50), cell(row.box?.q75), row.unit]);
  return folded("The diagram as a table", tableElement({ head, rows }));
}
