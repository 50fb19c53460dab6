// A file system: its climates as a strip of letters, a pane for each motif, one axis of time (UTC).
import type { ClimateEvent } from "../../api/generated.ts";
import type { DrawnClimate, Place } from "../../api/climate.ts";
import { span, xAt } from "../../charts/climate/geometry.ts";
import { utcTicks } from "../../charts/climate/utc.ts";
import { areaOf, Pane, stretchMark } from "./pane.ts";
import type { PaneEvents } from "./pane.ts";
import { h, svg } from "../shared/dom.ts";

const STRIP = 16;
const AXIS = 20;
const LETTER_PX = 9;

export class PlaceView {
  readonly element: HTMLElement;
  readonly panes: Pane[];
  private readonly climate: DrawnClimate;
  private readonly place: Place;
  private readonly strip = h("div", { class: "climate-strip", "aria-hidden": "true" });
  private readonly axis = h("div", { class: "climate-axis", "aria-hidden": "true" });

  constructor(climate: DrawnClimate, place: Place, height: number, on: PaneEvents) {
    this.climate = climate;
    this.place = place;
    this.panes = [];
    const rows = place.series.map((series, i) => {
      if (series === null) return h("p", { class: "climate-few" }, `${climate.motifs[i] ?? ""}: too few runs`);
      const pane = new Pane(climate, series, place.bands, height, on);
      this.panes.push(pane);
      return pane.element;
    });
    this.element = h("section", { class: "climate-place surface", "data-file-system": place.file_system, "aria-label": place.label }, h("h3", {}, place.label, h("small", {}, " fraction of peak")), this.strip, ...rows, this.axis);
    this.element.style.setProperty("--rows", String(rows.length + 3));
  }

  draw(): void {
    const width = this.axis.clientWidth;
    if (width <= 0) return;
    this.strip.replaceChildren(this.place.bands.length === 0 ? "" : this.letters(width));
    for (const pane of this.panes) pane.draw(width);
    this.axis.replaceChildren(this.times(width));
  }

  happened(event: ClimateEvent | null): void {
    for (const pane of this.panes) pane.happened(event);
  }

  /** Which climate was when; a stretch that is too narrow for its letter has none. */
  private letters(width: number): SVGElement {
    const area = areaOf(width, STRIP);
    const picture = svg("svg", { width: String(width), height: String(STRIP) });
    for (const one of this.place.bands) {
      const at = span(this.climate, area, one.start, one.end);
      const mark = stretchMark(this.climate, one, area, "climate-stretch");
      mark.append(svg("title", {}, one.sentence));
      picture.append(mark);
      if (at.width > LETTER_PX * one.name.length + 3) {
        picture.append(svg("text", { class: "climate-letter", x: String(at.x + at.width / 2), y: "12", "text-anchor": "middle" }, one.name));
      }
    }
    return picture;
  }

  private times(width: number): SVGElement {
    const area = areaOf(width, AXIS);
    const picture = svg("svg", { width: String(width), height: String(AXIS) });
    const right = area.left + area.width;
    for (const { at, label } of utcTicks(this.climate.since, this.climate.until, area.width)) {
      const x = xAt(this.climate, area, at);
      picture.append(svg("line", { class: "chart-edge", x1: String(x), x2: String(x), y1: "0", y2: "4" }));
      const anchor = x > right - 20 ? "end" : x < area.left + 4 ? "start" : "middle";
      picture.append(svg("text", { class: "chart-tick", x: String(anchor === "end" ? right : x), y: "15", "text-anchor": anchor }, label));
    }
    picture.append(svg("text", { class: "chart-tick", x: "0", y: "15" }, "UTC"));
    return picture;
  }
}
