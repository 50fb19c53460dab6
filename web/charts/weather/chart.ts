// One panel's picture: uPlot gives axes, cursor and size; the layers draw what is measured.
import uPlot from "uplot";
import type { Ms, UnixMs } from "../../api/time.ts";
import { density } from "./density_layer.ts";
import { openOperation } from "./open_layer.ts";
import { formatTick } from "../shared/format.ts";
import { clipped, makeFrame } from "./frame.ts";
import type { Frame, Layer, PanelModel } from "./frame.ts";
import type { Palette } from "./palette.ts";
import { points } from "./points_layer.ts";
import { logTicks } from "./scale.ts";
import { drawStrip, STRIP_GAP, STRIP_HEIGHT } from "./strip_layer.ts";
import { tickLabels, tickStep, timeTicks } from "../shared/time_ticks.ts";
import { baselineLine, medianBand, medianLine, slowTint } from "./windows_layer.ts";

const LAYERS: readonly Layer[] = [slowTint, density, points, medianBand, medianLine, baselineLine, openOperation];
const AXIS_LEFT = 58;
const LABEL_HEIGHT = 22;
/** Room for the labels of events. */
const ABOVE = 21;
const BELOW = STRIP_GAP + STRIP_HEIGHT + 5;

export interface ChartEvents {
  /** The cursor stands at `t` (null: nowhere). `own`: moved in this chart, not by one it is synchronised with. */
  readonly cursor: (t: UnixMs | null, own: boolean) => void;
  /** A span was dragged out. */
  readonly zoom: (from: UnixMs, to: UnixMs) => void;
  /** Double click: back to the picked range. */
  readonly reset: () => void;
}

export class Chart {
  private readonly plot: uPlot;
  private model: PanelModel;
  private palette: Palette;

  constructor(host: HTMLElement, model: PanelModel, palette: Palette, sync: string, on: ChartEvents) {
    this.model = model;
    this.palette = palette;
    this.plot = new uPlot(this.options(host, sync, on), this.data(), host);
  }

  show(model: PanelModel): void {
    this.model = model;
    this.plot.setData(this.data(), false);
    this.plot.batch(() => {
      this.plot.setScale("x", { min: model.from, max: model.to });
      this.plot.setScale("y", { min: model.extent.min, max: model.extent.max });
      this.plot.redraw(false, true);
    });
  }

  recolour(palette: Palette): void {
    this.palette = palette;
    this.plot.redraw(false, true);
  }

  resize(width: number, height: number): void {
    if (width > 0 && (width !== this.plot.width || height !== this.plot.height)) this.plot.setSize({ width, height });
  }

  /** Puts the cursor on an instant, here and in the synchronised charts; null takes it away. */
  point(t: UnixMs | null): void {
    const left = t === null ? -10 : this.plot.valToPos(t, "x");
    (this.plot.setCursor as (at: { left: number; top: number }, fire: boolean, pub: boolean) => void)(
      { left, top: t === null ? -10 : this.plot.over.clientHeight / 2 },
      true,
      true,
    );
  }

  /** Elements in it stand over the plot; its width is that of the time axis. */
  get plotArea(): HTMLElement {
    return this.plot.over;
  }

  destroy(): void {
    this.plot.destroy();
  }

  private data(): uPlot.AlignedData {
    return [[this.model.from, this.model.to], [null, null]];
  }

  private options(host: HTMLElement, sync: string, on: ChartEvents): uPlot.Options {
    return {
      width: Math.max(host.clientWidth, 200),
      height: Math.max(host.clientHeight, 120),
      ms: 1,
      padding: [ABOVE, 18, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: true, auto: false },
        y: { distr: 3, auto: false, range: () => [this.model.extent.min, this.model.extent.max] },
      },
      series: [{}, { scale: "y", show: true, points: { show: false } }],
      axes: [this.timeAxis(), this.latencyAxis()],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 8 },
        sync: { key: sync, setSeries: false, filters: { pub: onlyMoves, sub: onlyMoves } },
        bind: { dblclick: () => () => (on.reset(), null) },
      },
      hooks: {
        setCursor: [(u) => on.cursor(cursorTime(u), u.cursor.event != null)],
        setSelect: [(u) => this.selected(u, on)],
        draw: [(u) => this.draw(u)],
      },
    };
  }

  private timeAxis(): uPlot.Axis {
    return {
      stroke: () => this.palette.faint,
      font: this.font(),
      gap: BELOW,
      size: BELOW + LABEL_HEIGHT,
      ticks: { show: false },
      grid: { stroke: () => this.palette.grid, width: 1 },
      splits: (u) => timeTicks(this.model.from, this.model.to, this.timeStep(u)),
      values: (u, ticks) => tickLabels(ticks as UnixMs[], this.timeStep(u)),
    };
  }

  private timeStep(u: uPlot): Ms {
    return tickStep(this.model.from, this.model.to, Math.max(2, (u.width - AXIS_LEFT) / 74));
  }

  private latencyAxis(): uPlot.Axis {
    return {
      scale: "y",
      stroke: () => this.palette.faint,
      font: this.font(),
      gap: 6,
      size: AXIS_LEFT,
      ticks: { show: false },
      grid: { stroke: () => this.palette.grid, width: 1 },
      splits: (u) => logTicks(this.model.extent, Math.max(3, Math.floor(u.height / 34))),
      filter: (_u, ticks) => ticks,
      values: (_u, ticks) => ticks.map((t) => formatTick(t as Ms)),
    };
  }

  private font(): string {
    return `11px ${this.palette.font}`;
  }

  private selected(u: uPlot, on: ChartEvents): void {
    const { left, width } = u.select;
    if (width < 4) return;
    const from = u.posToVal(left, "x") as UnixMs;
    const to = u.posToVal(left + width, "x") as UnixMs;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    on.zoom(from, to);
  }

  private draw(u: uPlot): void {
    const frame = makeFrame(u.ctx, u.bbox, uPlot.pxRatio, this.model, this.palette);
    clipped(u.ctx, u.bbox, () => {
      for (const layer of LAYERS) layer(frame, this.model);
      if (nothing(this.model)) this.say(frame, "nothing measured in this range");
    });
    drawStrip(frame, this.model);
  }

  private say(frame: Frame, text: string): void {
    frame.ctx.fillStyle = this.palette.faint;
    frame.ctx.font = `${12 * frame.ratio}px ${this.palette.font}`;
    frame.ctx.textAlign = "center";
    frame.ctx.fillText(text, frame.left + frame.width / 2, frame.top + frame.height / 2);
  }
}

/** Dragging stays in the chart it happens in. */
const onlyMoves = (type: string): boolean => type === "mousemove" || type === "mouseleave";

function cursorTime(u: uPlot): UnixMs | null {
  const left = u.cursor.left ?? -1;
  return left < 0 ? null : (u.posToVal(left, "x") as UnixMs);
}

const nothing = (model: PanelModel): boolean =>
  model.series !== null && model.live.due.length === 0 && model.series.n_points === 0 && model.cells.every((c) => c.row === null);
