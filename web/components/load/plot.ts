// The picture of a load: columns in WebGL, time axis, slowdown and names around them, one cursor for all of it.
import type { Load, Series } from "../../api/generated.ts";
import { recordedSpan } from "../../api/load.ts";
import type { LoadCells } from "../../api/load.ts";
import { unixMs } from "../../api/time.ts";
import { cssColours } from "../../charts/shared/css_colours.ts";
import { parseRgb } from "../../charts/shared/ramp.ts";
import { loadFrame } from "../../charts/load/frame.ts";
import type { LoadFrame } from "../../charts/load/frame.ts";
import { LoadPainter } from "../../charts/load/gl.ts";
import type { LoadColours } from "../../charts/load/gl.ts";
import { slotAt, timeAt, yOf } from "../../charts/load/layout.ts";
import type { TimeSpan } from "../../charts/load/layout.ts";
import { drawOverlay } from "../../charts/load/overlay.ts";
import type { LoadCursor, OverlayColours } from "../../charts/load/overlay.ts";
import { usualRates } from "../../charts/load/usual.ts";
import { h, setAttribute } from "../shared/dom.ts";
import { listenKeys, listenPointers } from "./keys.ts";

const SETTLED_MS = 180;
const RAMP = ["--ramp-1", "--ramp-1-5", "--ramp-2", "--ramp-4", "--ramp-8", "--ramp-16"];
const KEYS = "Arrow keys go over columns and times, page keys over ranges, plus and minus zoom, Home shows everything, Enter opens the largest job there.";

export interface PlotEvents {
  /** The reader has gone to another span and rests there. */
  readonly settled: (span: TimeSpan) => void;
  readonly moved: (span: TimeSpan) => void;
  readonly cursor: (cursor: LoadCursor | null) => void;
  readonly open: () => void;
}

export class LoadPlot {
  readonly element: HTMLElement;
  readonly drawable: boolean;
  span: TimeSpan = { from: unixMs(0), to: unixMs(1) };
  cursor: LoadCursor | null = null;
  private readonly canvas = h("canvas", { class: "load-canvas", "aria-hidden": "true" });
  private readonly over = h("canvas", { class: "load-over", "aria-hidden": "true" });
  private readonly touch = h("div", { class: "load-touch", tabindex: "0", role: "group", "aria-roledescription": "chart" });
  private readonly painter: LoadPainter | null;
  private readonly on: PlotEvents;
  private load: Load | null = null;
  private slowdown: Series | null = null;
  private pending = false;
  private half: ReadonlySet<string> = new Set();
  private own = false;
  private usual: readonly number[] = [];
  private frame: LoadFrame = loadFrame(600, 300, null, false, []);
  private overlay: OverlayColours | null = null;
  private scheduled = 0;
  private timer = 0;

  constructor(on: PlotEvents) {
    this.on = on;
    this.painter = LoadPainter.on(this.canvas);
    this.drawable = this.painter !== null;
    this.element = h("div", { class: "load-plot" }, this.canvas, this.over, this.touch);
    if (!this.drawable) this.element.append(h("p", { class: "load-fallback" }, "This browser has no WebGL 2, so the columns are not drawn. The sentence and the table say the same."));
    const moves = {
      span: () => this.span,
      recorded: () => (this.load === null ? this.span : recordedSpan(this.load)),
      height: () => this.frame.height,
      go: (span: TimeSpan, settled: boolean) => this.go(span, settled),
      point: (x: number, y: number) => this.point(x, y),
      step: (columns: number, cells: number) => this.step(columns, cells),
      clear: () => this.place(null),
      open: () => this.on.open(),
    };
    listenKeys(this.touch, moves);
    listenPointers(this.touch, moves);
    this.touch.addEventListener("pointerleave", (event) => {
      if (event.pointerType === "mouse") this.place(null);
    });
  }

  go(span: TimeSpan, settled: boolean): void {
    const there = span.from === this.span.from && span.to === this.span.to;
    this.span = span;
    this.on.moved(span);
    this.schedule();
    const waiting = this.timer !== 0;
    window.clearTimeout(this.timer);
    this.timer = 0;
    if (there && !waiting) return;
    this.timer = window.setTimeout(
      () => {
        this.timer = 0;
        this.on.settled(this.span);
      },
      settled ? 0 : SETTLED_MS,
    );
  }

  show(load: Load, cells: LoadCells, own: boolean): void {
    this.load = load;
    this.own = own;
    this.half = halfOf(load);
    this.usual = usualRates(load, cells);
    this.painter?.data(cells, load.columns.length + 1);
    setAttribute(this.touch, "aria-label", `${load.sentence} ${KEYS}`);
    this.resize();
  }

  /** `pending`: it is being read; null and not pending: nobody knows. */
  showSlowdown(series: Series | null, pending = false): void {
    this.slowdown = series;
    this.pending = pending;
    this.schedule();
  }

  recolour(): void {
    const { colour, font } = cssColours(this.element);
    const rgb = (name: string): LoadColours["ground"] => parseRgb(colour(name));
    this.painter?.colours({
      ground: rgb("--surface"),
      grid: rgb("--grid"),
      fill: rgb("--load-fill"),
      tint: rgb("--load-tint"),
      line: rgb("--load-line"),
      halfFill: rgb("--load-half-fill"),
      halfTint: rgb("--load-half-tint"),
      halfLine: rgb("--load-half-line"),
      band: rgb("--load-band"),
      hatch: rgb("--line"),
    });
    const css = { ink: "--ink", soft: "--ink-soft", faint: "--ink-faint", line: "--line", half: "--slow", accent: "--accent" };
    const names = Object.fromEntries(Object.entries(css).map(([name, variable]) => [name, colour(variable)])) as Record<keyof typeof css, string>;
    this.overlay = { ...names, ramp: RAMP.map(rgb), font };
    this.schedule();
  }

  /** After any change of size, data or scale. */
  resize(): void {
    const { width, height } = this.element.getBoundingClientRect();
    if (width < 50) return;
    const bare = loadFrame(width, 100, this.load, this.own, this.usual);
    this.frame = loadFrame(width, Math.max(80, Math.round(height - bare.head - bare.foot)), this.load, this.own, this.usual);
    const { frame } = this;
    const ratio = this.ratio;
    for (const [canvas, left, top, wide, high] of [
      [this.canvas, frame.plot.left, frame.head, frame.plot.width, frame.height],
      [this.over, 0, 0, width, height],
      [this.touch, 0, frame.head, width, frame.height],
    ] as const) {
      Object.assign(canvas.style, { left: `${left}px`, top: `${top}px`, width: `${wide}px`, height: `${high}px` });
    }
    [this.over.width, this.over.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const slots = [frame.total, ...frame.columns].map((slot, row) => ({
      left: slot.left * ratio,
      width: slot.width * ratio,
      perPixel: slot.perPixel / ratio,
      row,
      half: row > 0 && this.half.has(this.load?.columns[row - 1]?.name ?? ""),
    }));
    this.painter?.layout(slots, Math.round(frame.plot.width * ratio), Math.round(frame.height * ratio));
    if (this.overlay === null) this.recolour();
    this.schedule();
  }

  private get ratio(): number {
    return Math.min(2, window.devicePixelRatio || 1);
  }

  private schedule(): void {
    if (this.scheduled !== 0) return;
    this.scheduled = requestAnimationFrame(() => {
      this.scheduled = 0;
      this.draw();
    });
  }

  private draw(): void {
    const ctx = this.over.getContext("2d");
    if (ctx === null || this.overlay === null || this.load === null) return;
    const { load, span, frame } = this;
    const rows = Math.round(frame.height * this.ratio);
    this.painter?.draw((span.from - load.begin) / load.step, (span.to - span.from) / load.step / rows);
    drawOverlay(ctx, this.ratio, { frame, span, load, slowdown: this.slowdown, pending: this.pending, half: this.half, cursor: this.cursor }, this.overlay);
    this.element.dataset["from"] = String(span.from);
    this.element.dataset["to"] = String(span.to);
  }

  private point(x: number, y: number): void {
    const { frame } = this;
    if (y < 0 || y > frame.height) return;
    const inside = x - frame.plot.left;
    const column = inside < 0 ? null : inside <= frame.total.width ? -1 : slotAt(frame.columns, inside);
    this.place({ column, at: timeAt(this.span, frame.height, y) });
  }

  private step(columns: number, cells: number): void {
    const { load, span } = this;
    if (load === null) return;
    const now = this.cursor ?? { column: null, at: unixMs((span.from + span.to) / 2) };
    const column = columns === 0 ? (now.column ?? 0) : Math.max(-1, Math.min(load.columns.length - 1, now.column === null ? 0 : now.column + columns));
    const by = Math.max(load.step, (span.to - span.from) / Math.max(1, this.frame.height));
    const at = unixMs(Math.max(span.from, Math.min(span.to, now.at + cells * by)));
    this.place({ column, at });
  }

  private place(cursor: LoadCursor | null): void {
    this.cursor = cursor;
    this.on.cursor(cursor);
    this.schedule();
  }

  /** Where the cursor stands, CSS pixels from the top of the picture. */
  get cursorTop(): number {
    return this.cursor === null ? 0 : this.frame.head + yOf(this.span, this.frame.height, this.cursor.at);
  }

  destroy(): void {
    window.clearTimeout(this.timer);
    cancelAnimationFrame(this.scheduled);
    this.painter?.destroy();
  }
}

/** The largest columns that make more than half: of the band, where one is marked. */
export function halfOf(load: Load): ReadonlySet<string> {
  if (load.band === null || load.band.half === null) return new Set();
  return new Set(load.band.ranked.slice(0, load.band.half).map((one) => one.name));
}
