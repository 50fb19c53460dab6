// How long the total rate was how high: bars on an axis of rates, with two handles that mark a band of it.
import type { Load } from "../../api/generated.ts";
import type { RateBand } from "../../api/load.ts";
import { formatRate, nearestEdge, rateTicks, stepEdge, xOfRate } from "../../charts/load/rate_axis.ts";
import type { RateAxis } from "../../charts/load/rate_axis.ts";
import { h, setAttribute, setText, svg } from "../shared/dom.ts";

const HEIGHT = 56;
const AXIS = 18;

type Side = "low" | "high";

export class Totals {
  readonly element: HTMLElement;
  private readonly host = h("div", { class: "load-totals-draw" });
  private readonly handles: Readonly<Record<Side, HTMLElement>>;
  private readonly words = h("span", { class: "load-band" });
  private readonly none = h("button", { type: "button", class: "quiet", hidden: true }, "No range");
  private readonly choose: (band: RateBand | null) => void;
  private load: Load | null = null;
  private axis: RateAxis = { width: 1, most: 10 };
  private band: RateBand | null = null;
  private from: number | null = null;
  private dragged: Side | null = null;

  /** `choose`: another band, or none. */
  constructor(choose: (band: RateBand | null) => void) {
    this.choose = choose;
    const handle = (side: Side, words: string): HTMLElement => h("div", { class: "load-handle", role: "slider", tabindex: "0", "aria-label": words, "data-side": side });
    this.handles = { low: handle("low", "Lowest total of the range"), high: handle("high", "Highest total of the range") };
    this.none.addEventListener("click", () => this.choose(null));
    const frame = h("div", { class: "load-totals-frame" }, this.host, this.handles.low, this.handles.high);
    this.element = h("section", { class: "load-totals", "aria-label": "Time by total rate" }, h("div", { class: "load-totals-head" }, h("h3", {}, "Total, operations/s"), this.words, this.none), frame);
    this.listen(frame);
  }

  private listen(frame: HTMLElement): void {
    const x = (event: PointerEvent): number => event.clientX - this.host.getBoundingClientRect().left;
    frame.addEventListener("pointerdown", (event) => {
      if (this.load === null || event.button !== 0) return;
      const side = event.target instanceof HTMLElement ? event.target.dataset["side"] : undefined;
      this.dragged = side === "low" || side === "high" ? side : null;
      this.from = x(event);
      frame.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    frame.addEventListener("pointermove", (event) => this.moved(x(event)));
    frame.addEventListener("pointerup", (event) => {
      const from = this.from;
      this.moved(x(event));
      this.from = null;
      if (this.band !== null && from !== null && (this.dragged !== null || Math.abs(x(event) - from) > 3)) this.choose(this.band);
    });
    for (const side of ["low", "high"] as const) {
      this.handles[side].addEventListener("keydown", (event) => this.key(event, side));
    }
  }

  private moved(x: number): void {
    const edges = this.load?.totals.edges_per_s ?? [];
    if (this.from === null || edges.length < 2) return;
    const edge = nearestEdge(edges, this.axis, x);
    if (this.dragged !== null && this.band !== null) return this.set(this.dragged === "low" ? ordered(edge, this.band.high, edges) : ordered(this.band.low, edge, edges));
    if (Math.abs(x - this.from) > 3) this.set(ordered(nearestEdge(edges, this.axis, this.from), edge, edges));
  }

  private key(event: KeyboardEvent, side: Side): void {
    const edges = this.load?.totals.edges_per_s ?? [];
    const steps: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -1000, End: 1000 };
    if (event.key === "Escape") return this.choose(null);
    const step = steps[event.key];
    if (step === undefined || edges.length < 2) return;
    event.preventDefault();
    const band = this.band ?? { low: edges[0] ?? 0, high: edges[edges.length - 1] ?? 1 };
    const moved = { ...band, [side]: stepEdge(edges, band[side], step) };
    if (moved.low < moved.high) this.choose(moved);
  }

  show(load: Load | null, band: RateBand | null): void {
    this.load = load;
    this.draw();
    this.set(band);
  }

  draw(): void {
    const width = this.host.clientWidth;
    const edges = this.load?.totals.edges_per_s ?? [];
    const seconds = this.load?.totals.seconds ?? [];
    this.axis = { width: Math.max(1, width), most: Math.max(10, edges[edges.length - 1] ?? 10) };
    const tallest = Math.max(1, ...seconds);
    const picture = svg("svg", { width: String(width), height: String(HEIGHT + AXIS), "aria-hidden": "true" });
    picture.append(svg("rect", { class: "load-band-ground", y: "0", height: String(HEIGHT), x: "0", width: "0" }));
    seconds.forEach((value, bin) => {
      if (value <= 0) return;
      const [left, right] = [xOfRate(this.axis, edges[bin] ?? 0), xOfRate(this.axis, edges[bin + 1] ?? 0)];
      const high = Math.max(1.5, (HEIGHT - 2) * (value / tallest));
      picture.append(svg("rect", { class: "load-bar", x: left.toFixed(1), width: Math.max(1, right - left - 1).toFixed(1), y: (HEIGHT - high).toFixed(1), height: high.toFixed(1) }));
    });
    picture.append(svg("line", { class: "chart-edge", x1: "0", x2: String(width), y1: String(HEIGHT), y2: String(HEIGHT) }));
    for (const tick of rateTicks(this.axis)) {
      const x = xOfRate(this.axis, tick);
      const anchor = x > width - 24 ? "end" : tick === 0 ? "start" : "middle";
      picture.append(svg("text", { class: "chart-tick", x: x.toFixed(1), y: String(HEIGHT + 13), "text-anchor": anchor }, formatRate(tick)));
    }
    this.host.replaceChildren(picture);
    this.set(this.band);
  }

  private set(band: RateBand | null): void {
    this.band = band;
    this.none.hidden = band === null;
    const edges = this.load?.totals.edges_per_s ?? [];
    const shown = band ?? { low: 0, high: edges[edges.length - 1] ?? 10 };
    const [left, right] = [xOfRate(this.axis, shown.low), xOfRate(this.axis, shown.high)];
    const ground = this.host.querySelector(".load-band-ground");
    if (ground !== null) {
      setAttribute(ground, "x", left.toFixed(1));
      setAttribute(ground, "width", band === null ? "0" : Math.max(1, right - left).toFixed(1));
    }
    for (const [side, x, rate] of [["low", left, shown.low], ["high", right, shown.high]] as const) {
      const handle = this.handles[side];
      handle.style.left = `${x}px`;
      for (const [name, value] of [["aria-valuemin", 0], ["aria-valuemax", edges[edges.length - 1] ?? 10], ["aria-valuenow", rate]] as const) setAttribute(handle, name, String(value));
      setAttribute(handle, "aria-valuetext", `${formatRate(rate)} operations per second`);
    }
    setText(this.words, band === null ? "drag over the bars to mark a range" : `${formatRate(band.low)} to ${formatRate(band.high)}`);
  }
}

function ordered(one: number, other: number, edges: readonly number[]): RateBand {
  const [low, high] = [Math.min(one, other), Math.max(one, other)];
  return low < high ? { low, high } : { low, high: stepEdge(edges, high, 1) };
}
