// One file system and motif over time: its runs, the median of each segment, its changes. Drawn from the server's numbers.
import type { ClimateEvent } from "../../api/generated.ts";
import type { DrawnClimate, RunName, DrawnSeries, DrawnBand } from "../../api/climate.ts";
import type { UnixMs } from "../../api/time.ts";
import { dots, dotsPath, nearestDot, nextChange, nextRun, span, xAt, yAt } from "../../charts/climate/geometry.ts";
import type { Area, Place } from "../../charts/shared/place.ts";
import { h, setAttribute, svg } from "../shared/dom.ts";

const AXIS = 26;
const RIGHT = 4;
const TICKS = [0, 0.5, 1];
const ARROW = 5;
/** So many runs or fewer have dots that can be seen singly. */
const FEW = 80;
/** Colours of climates; then they come again. */
const COLOURS = 6;

/** Where the marks of a pane are; the strip above and the axis below it have the same left and width. */
export const areaOf = (width: number, height: number): Area => ({ left: AXIS, top: 0, width: Math.max(40, width - AXIS - RIGHT), height });

/** A climate's stretch as a coloured rectangle. */
export function stretchMark(climate: DrawnClimate, one: DrawnBand, area: Area, name: string): SVGElement {
  const { x, width } = span(climate, area, one.start, one.end);
  const edges = { x: String(x), width: String(Math.max(1, width - 1)), y: "0", height: String(area.height) };
  return svg("rect", { class: name, "data-climate": String(one.climate % COLOURS), ...edges });
}

export interface PaneEvents {
  /** The cursor goes to a run (null: nowhere). */
  readonly cursor: (pane: Pane, index: number | null) => void;
  readonly open: (run: RunName) => void;
}

export class Pane {
  readonly element: HTMLElement;
  readonly series: DrawnSeries;
  private readonly climate: DrawnClimate;
  private readonly on: PaneEvents;
  private readonly height: number;
  private readonly grounds: readonly DrawnBand[];
  private readonly host: HTMLElement;
  private readonly line = svg("line", { class: "chart-cursor", visibility: "hidden" });
  private readonly ring = svg("circle", { class: "climate-ring", r: "4.5", visibility: "hidden" });
  private readonly mark = svg("rect", { class: "climate-event-span", visibility: "hidden" });
  private points: (Place | null)[] = [];
  private width = 0;
  private at: number | null = null;
  private touched = false;
  private open: ClimateEvent | null = null;

  /** `grounds`: the climates behind it. */
  constructor(climate: DrawnClimate, series: DrawnSeries, grounds: readonly DrawnBand[], height: number, on: PaneEvents) {
    this.climate = climate;
    this.series = series;
    this.height = height;
    this.grounds = grounds;
    this.on = on;
    const { motif, times, changes } = series;
    const told = changes.length === 0 ? "no lasting change" : changes.map((one) => one.sentence).join("; ");
    this.host = h("div", { class: "climate-draw", tabindex: "0", role: "group", "aria-roledescription": "chart", "aria-describedby": "climate-sentence" });
    setAttribute(this.host, "aria-label", `${motif}, ${times.length} runs: ${told}. Arrow keys go from run to run, page keys from change to change, enter opens the job.`);
    this.element = h(
      "section",
      { class: "climate-pane", "data-motif": motif, "data-changes": String(changes.length) },
      h("h4", {}, motif, h("small", {}, ` ${times.length} runs`)),
      this.host,
    );
    this.listen();
  }

  private listen(): void {
    const nearest = (event: MouseEvent): number | null => {
      const box = this.host.getBoundingClientRect();
      return nearestDot(this.points, event.clientX - box.left, event.clientY - box.top);
    };
    this.host.addEventListener("pointerdown", (event) => {
      this.touched = event.pointerType === "touch";
    });
    this.host.addEventListener("pointermove", (event) => this.on.cursor(this, nearest(event)));
    this.host.addEventListener("click", (event) => {
      const index = nearest(event);
      this.on.cursor(this, index);
      // A finger points first: the link below the panes opens the job.
      if (!this.touched) this.follow(index);
    });
    this.host.addEventListener("keydown", (event) => this.key(event));
  }

  private follow(index: number | null): void {
    const run = index === null ? undefined : this.series.runs[index];
    if (run !== undefined) this.on.open(run);
  }

  draw(width: number): void {
    this.width = width;
    const area = areaOf(width, this.height);
    this.points = dots(this.climate, this.series, area);
    const picture = svg("svg", { width: String(width), height: String(this.height), "aria-hidden": "true" });
    for (const one of this.grounds) picture.append(stretchMark(this.climate, one, area, "climate-ground"));
    picture.append(...this.axis(area), this.mark, ...this.changes(area));
    const runs = svg("path", { class: "climate-dots", "data-few": this.points.length <= FEW, d: dotsPath(this.points) });
    picture.append(runs, ...this.medians(area), this.line, this.ring);
    this.host.replaceChildren(picture);
    this.happened(this.open);
    this.cursor(null, this.at);
  }

  private axis(area: Area): SVGElement[] {
    const right = String(area.left + area.width);
    return TICKS.flatMap((tick) => {
      const y = String(yAt(area, tick));
      return [
        svg("line", { class: "chart-grid", x1: String(area.left), x2: right, y1: y, y2: y }),
        svg("text", { class: "chart-tick", x: String(area.left - 5), y, dy: tick === 0 ? "-0.1em" : "0.35em", "text-anchor": "end" }, String(tick)),
      ];
    });
  }

  /** The interval of each change shaded, a line at its date, and an arrow: no colour alone. */
  private changes(area: Area): SVGElement[] {
    return this.series.changes.flatMap((one) => {
      const role = one.rose ? "rose" : "fell";
      const { x, width } = span(this.climate, area, one.earliest, one.latest);
      const at = xAt(this.climate, area, one.at);
      const [tip, base] = one.rose ? [0, ARROW] : [ARROW, 0];
      const arrow = `M${at - ARROW} ${base}L${at + ARROW} ${base}L${at} ${tip}Z`;
      return [
        svg("rect", { class: "climate-span", "data-change": role, x: String(x), width: String(width), y: "0", height: String(area.height) }),
        svg("line", { class: "climate-change", "data-change": role, x1: String(at), x2: String(at), y1: "0", y2: String(area.height) }),
        svg("path", { class: "climate-arrow", "data-change": role, d: arrow }),
      ];
    });
  }

  private medians(area: Area): SVGElement[] {
    return this.series.segments.map((one) => {
      const y = String(yAt(area, one.median));
      const { x, width } = span(this.climate, area, one.start, one.end);
      return svg("line", { class: "climate-median", x1: String(x), x2: String(x + width), y1: y, y2: y });
    });
  }

  /** The cursor of all panes at one time; `index`: the run that it stands on, if it is one of this pane. */
  cursor(time: UnixMs | null, index: number | null): void {
    this.at = index;
    const own = index === null ? null : (this.series.times[index] ?? null);
    const t = time ?? own;
    const x = t === null ? 0 : xAt(this.climate, areaOf(this.width, this.height), t);
    for (const [name, value] of [["x1", x], ["x2", x], ["y1", 0], ["y2", this.height]] as const) setAttribute(this.line, name, String(value));
    setAttribute(this.line, "visibility", t === null ? "hidden" : "visible");
    const point = index === null ? null : (this.points[index] ?? null);
    setAttribute(this.ring, "visibility", point === null ? "hidden" : "visible");
    if (point === null) return;
    setAttribute(this.ring, "cx", String(point.x));
    setAttribute(this.ring, "cy", String(point.y));
  }

  /** Shows when an event may have been, and whether this series changed in it. */
  happened(event: ClimateEvent | null): void {
    this.open = event;
    const changed = event?.changes.some((one) => one.file_system === this.series.file_system && one.motif === this.series.motif);
    setAttribute(this.element, "data-event", event === null ? null : changed === true ? "changed" : "steady");
    setAttribute(this.mark, "visibility", event === null ? "hidden" : "visible");
    if (event === null) return;
    const { x, width } = span(this.climate, areaOf(this.width, this.height), event.earliest, event.latest);
    const edges = { x, width, y: 0, height: this.height };
    for (const [name, value] of Object.entries(edges)) setAttribute(this.mark, name, String(value));
  }

  private key(event: KeyboardEvent): void {
    const { series } = this;
    const last = series.times.length - 1;
    const at = this.at;
    if (event.key === "Enter") return this.follow(at);
    const moves: Record<string, () => number | null> = {
      ArrowLeft: () => nextRun(series, at ?? last + 1, -1),
      ArrowRight: () => nextRun(series, at ?? -1, 1),
      PageUp: () => nextChange(series, at ?? last, -1),
      PageDown: () => nextChange(series, at ?? 0, 1),
      Home: () => nextRun(series, -1, 1),
      End: () => nextRun(series, last + 1, -1),
      Escape: () => null,
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    this.on.cursor(this, move());
  }
}
