// One metric of a job: its words, its runs over time, the box of its history. Drawn from the server's numbers.
import type { UmamiRow } from "../../api/generated.ts";
import type { UmamiFigure } from "../../api/jobs.ts";
import { crossPath, crossSize, linePath, nearest, places, RUNS_SHARE, starPath, step, xOf, yOf } from "../../charts/jobs/umami_geometry.ts";
import type { Area, Place } from "../../charts/shared/place.ts";
import { h, setAttribute, svg } from "../shared/dom.ts";

const AXIS = 46;
const RIGHT = 6;
const HEIGHT = 84;

/** Where runs and box of a row as wide as `width` are; the axis below them has the same. */
export function areas(width: number): { runs: Area; box: Area } {
  const inner = Math.max(60, width - AXIS - RIGHT);
  const runs = { left: AXIS, top: 0, width: inner * RUNS_SHARE, height: HEIGHT };
  return { runs, box: { ...runs, left: AXIS + runs.width, width: inner - runs.width } };
}

export interface RowEvents {
  /** The cursor goes to a run (null: nowhere). */
  readonly cursor: (row: UmamiRow, index: number | null) => void;
}

export class RowView {
  readonly element: HTMLElement;
  private readonly host: HTMLElement;
  private readonly figure: UmamiFigure;
  private readonly row: UmamiRow;
  private points: (Place | null)[] = [];
  private readonly line = svg("line", { class: "chart-cursor", visibility: "hidden" });
  private at: number | null = null;
  private readonly on: RowEvents;

  constructor(figure: UmamiFigure, row: UmamiRow, on: RowEvents) {
    this.figure = figure;
    this.row = row;
    this.on = on;
    const badge = h("span", { class: "umami-class", "data-role": row.role }, `${row.sign} ${row.role}`);
    const flagged = row.flags.length === 0 ? null : h("abbr", { title: row.flags.join(", ") }, "*");
    const spoken = [`${row.label}: ${row.value_text}`, row.role, row.rank, ...row.flags].filter((t) => t !== "").join(", ");
    this.host = h("div", { class: "umami-draw", tabindex: "0", role: "group", "aria-roledescription": "chart", "aria-describedby": "umami-sentence" });
    this.host.setAttribute("aria-label", `${spoken}. Arrow keys go from run to run.`);
    this.element = h(
      "section",
      { class: "umami-row", "data-metric": row.metric, "data-role": row.role },
      h(
        "div",
        { class: "umami-words" },
        h("span", { class: "umami-label" }, row.label, row.unit === "" ? null : h("small", {}, ` ${row.unit}`)),
        h("span", { class: "umami-value" }, row.value_text, flagged),
        badge,
        h("span", { class: "umami-rank" }, row.rank),
      ),
      this.host,
    );
    this.host.addEventListener("pointermove", (event) => {
      const left = this.host.getBoundingClientRect().left;
      this.on.cursor(this.row, nearest(this.points, event.clientX - left));
    });
    this.host.addEventListener("pointerleave", () => this.on.cursor(this.row, null));
    this.host.addEventListener("blur", () => this.on.cursor(this.row, null));
    this.host.addEventListener("keydown", (event) => this.key(event));
  }

  /** Draws anew at a width in CSS pixels. */
  draw(width: number): void {
    const { runs, box } = areas(width);
    const { figure, row } = this;
    this.points = places(figure, row, runs);
    const picture = svg("svg", { width: String(width), height: String(HEIGHT), "aria-hidden": "true", "data-role": row.role });
    picture.append(...this.frame(runs, box), ...this.history(runs), ...boxMarks(row, box), this.line);
    this.host.replaceChildren(picture);
    this.point(this.at);
  }

  /** Puts the cursor on a run of all rows. */
  point(index: number | null): void {
    this.at = index;
    const { figure } = this;
    const { runs } = areas(this.host.clientWidth);
    const x = index === null ? "0" : String(xOf(figure, runs, index));
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", "0"], ["y2", String(HEIGHT)]] as const) setAttribute(this.line, name, value);
    setAttribute(this.line, "visibility", index === null ? "hidden" : "visible");
  }

  private frame(runs: Area, box: Area): SVGElement[] {
    const right = box.left + box.width;
    const marks: SVGElement[] = [];
    this.row.ticks.forEach((tick, i) => {
      const y = String(yOf(this.row, runs, tick));
      marks.push(svg("line", { class: "chart-grid", x1: String(runs.left), x2: String(right), y1: y, y2: y }));
      marks.push(svg("text", { class: "chart-tick", x: String(runs.left - 6), y, dy: "0.35em", "text-anchor": "end" }, this.row.tick_texts[i] ?? ""));
    });
    const edge = (x: number): SVGElement =>
      svg("line", { class: "chart-edge", x1: String(x), x2: String(x), y1: "0", y2: String(HEIGHT) });
    return [...marks, edge(runs.left), edge(box.left), edge(right)];
  }

  private history(runs: Area): SVGElement[] {
    const { figure, row, points } = this;
    const marks: SVGElement[] = [
      svg("path", { class: "umami-line", d: linePath(points, figure.gaps) }),
      svg("path", { class: "umami-cross", d: crossPath(points, figure.place, crossSize(points)) }),
    ];
    const own = points[figure.place] ?? null;
    if (own === null) {
      const x = String(xOf(figure, runs, figure.place));
      marks.push(svg("line", { class: "umami-missing", x1: x, x2: x, y1: "0", y2: String(HEIGHT) }));
      return marks;
    }
    const before = points[figure.place - 1] ?? null;
    if (before !== null && !figure.gaps.includes(figure.place)) marks.push(svg("path", { class: "umami-last", d: linePath([before, own]) }));
    marks.push(svg("path", { class: "umami-star", d: starPath(own, row.values.length > 150 ? 7 : 8.5) }));
    return marks;
  }

  /** Left and right go to the next run with a value, Home and End to the first and last, Escape away. */
  private key(event: KeyboardEvent): void {
    const last = this.row.values.length - 1;
    const at = this.at ?? this.figure.place;
    const moves: Record<string, () => number | null> = {
      ArrowLeft: () => step(this.row, at, -1),
      ArrowRight: () => (this.at === null ? at : step(this.row, at, 1)),
      Home: () => step(this.row, -1, 1),
      End: () => step(this.row, last + 1, -1),
      Escape: () => null,
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const to = move();
    this.on.cursor(this.row, to !== null && this.row.values[to] === undefined ? null : to);
  }
}

function boxMarks(row: UmamiRow, area: Area): SVGElement[] {
  const marks: SVGElement[] = [];
  const at = (share: number): string => String(area.left + area.width * share);
  const y = (value: number): string => String(yOf(row, area, value));
  const stroke = (x1: number, x2: number, y1: number, y2: number, name = "umami-whisker"): SVGElement =>
    svg("line", { class: name, x1: at(x1), x2: at(x2), y1: y(y1), y2: y(y2) });
  const { box } = row;
  if (box !== null) {
    marks.push(stroke(0.5, 0.5, box.low, box.q25), stroke(0.5, 0.5, box.q75, box.high));
    marks.push(stroke(0.4, 0.6, box.low, box.low), stroke(0.4, 0.6, box.high, box.high));
    const height = Math.max(1, yOf(row, area, box.q25) - yOf(row, area, box.q75));
    marks.push(svg("rect", { class: "umami-box", x: at(0.3), y: y(box.q75), width: String(area.width * 0.4), height: String(height) }));
    marks.push(stroke(0.3, 0.7, box.q50, box.q50, "umami-median"));
  }
  for (const value of row.outliers) marks.push(svg("circle", { class: "umami-outlier", cx: at(0.5), cy: y(value), r: "2.6" }));
  if (row.value !== null) marks.push(stroke(0, 1, row.value, row.value, "umami-value-line"));
  if (row.n === 0) marks.push(svg("text", { class: "chart-tick", x: at(0.5), y: "70", "text-anchor": "middle" }, "no history"));
  return marks;
}
