// What stands around the columns: instants, the slowdown of a target on the same axis, names, the cursor.
import type { Load, OpSeries, Series } from "../../api/generated.ts";
import { OPS } from "../../api/model.ts";
import { after } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";
import { rampColour } from "../shared/ramp.ts";
import type { Rgb } from "../shared/ramp.ts";
import { tickLabels, tickStep, timeTicks } from "../shared/time_ticks.ts";
import type { LoadFrame } from "./frame.ts";
import { yOf } from "./layout.ts";
import type { Slot, TimeSpan } from "./layout.ts";
import { formatRate } from "./rate_axis.ts";

export interface OverlayColours {
  readonly ink: string;
  readonly soft: string;
  readonly faint: string;
  readonly line: string;
  readonly half: string;
  readonly accent: string;
  readonly ramp: readonly Rgb[];
  readonly font: string;
}

/** What is pointed at: a column (-1: the total, null: none) and an instant. */
export interface LoadCursor {
  readonly column: number | null;
  readonly at: UnixMs;
}

export interface OverlayModel {
  readonly frame: LoadFrame;
  readonly span: TimeSpan;
  readonly load: Load | null;
  readonly slowdown: Series | null;
  /** The slowdown is being read. */
  readonly pending: boolean;
  readonly half: ReadonlySet<string>;
  readonly cursor: LoadCursor | null;
}

export function drawOverlay(ctx: CanvasRenderingContext2D, ratio: number, model: OverlayModel, colours: OverlayColours): void {
  const { frame } = model;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, frame.width, frame.head + frame.height + frame.foot);
  heads(ctx, model, colours);
  ctx.save();
  ctx.translate(0, frame.head);
  times(ctx, model, colours);
  strip(ctx, model, colours);
  ctx.translate(frame.plot.left, 0);
  names(ctx, model, colours);
  cursor(ctx, model, colours);
  ctx.restore();
}

function heads(ctx: CanvasRenderingContext2D, { frame, slowdown, pending, load }: OverlayModel, colours: OverlayColours): void {
  ctx.font = `11px ${colours.font}`;
  ctx.fillStyle = colours.faint;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  if (slowdown !== null || pending) ctx.fillText(pending ? "reading" : "slow", frame.strip.left + frame.strip.width, 9);
  ctx.textAlign = "left";
  ctx.fillText(load === null ? "all" : `all, ${formatRate(load.most_per_s)}/s`, frame.plot.left, 9, frame.total.width);
  scaleBar(ctx, frame, colours);
  cuts(ctx, frame, load, colours);
}

/** A mark above columns whose largest rate is beyond their width. */
function cuts(ctx: CanvasRenderingContext2D, frame: LoadFrame, load: Load | null, colours: OverlayColours): void {
  ctx.fillStyle = colours.soft;
  ctx.textAlign = "right";
  frame.columns.forEach((slot, i) => {
    const most = load?.columns[i]?.most_per_s ?? 0;
    if (most > 1.02 * slot.width * slot.perPixel) ctx.fillText("\u25b8", frame.plot.left + slot.left + slot.width + 2, 15);
  });
}

/** How wide a round rate is, where all columns have one scale. */
function scaleBar(ctx: CanvasRenderingContext2D, frame: LoadFrame, colours: OverlayColours): void {
  const scales = new Set(frame.columns.map((slot) => Math.round(slot.perPixel * 1e6)));
  const [first] = frame.columns;
  if (first === undefined || (scales.size > 1 && frame.columns.length > 1)) return;
  const decade = 10 ** Math.floor(Math.log10(first.perPixel * 120));
  const rate = [5, 2, 1].map((one) => one * decade).find((one) => one / first.perPixel <= 120) ?? decade;
  const [x, width] = [frame.plot.left + first.left, rate / first.perPixel];
  ctx.fillStyle = colours.faint;
  ctx.fillRect(x, 13, width, 2);
  ctx.fillRect(x, 10, 1, 5);
  ctx.fillRect(x + width - 1, 10, 1, 5);
  ctx.fillText(`${formatRate(rate)}/s`, x + width + 6, 10);
}

function times(ctx: CanvasRenderingContext2D, { frame, span }: OverlayModel, colours: OverlayColours): void {
  const step = tickStep(span.from, span.to, Math.max(2, frame.height / 46));
  const ticks = timeTicks(span.from, span.to, step);
  const labels = tickLabels(ticks, step);
  ctx.font = `11.5px ${colours.font}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  ticks.forEach((tick, i) => {
    const y = yOf(span, frame.height, tick);
    ctx.fillStyle = colours.line;
    ctx.fillRect(frame.strip.left - 4, Math.round(y), 4, 1);
    const label = labels[i] ?? "";
    ctx.fillStyle = label.includes("-") ? colours.ink : colours.faint;
    ctx.fillText(label, frame.strip.left - 7, Math.min(frame.height - 6, Math.max(6, y)));
  });
}

/** A column for each operation that was probed: colour by slowdown, a dark edge where it is slow; nothing where nothing is known. */
function strip(ctx: CanvasRenderingContext2D, { frame, span, slowdown }: OverlayModel, colours: OverlayColours): void {
  const { left, width } = frame.strip;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, 0, width, frame.height);
  ctx.clip();
  const ops = OPS.filter((op) => (slowdown?.ops[op]?.windows.start.length ?? 0) > 0);
  const each = width / Math.max(1, ops.length);
  if (slowdown !== null) {
    ops.forEach((op, i) => windows(ctx, frame, span, slowdown, slowdown.ops[op], { left: left + i * each, width: each - 1 }, colours));
  }
  ctx.restore();
  ctx.strokeStyle = colours.line;
  ctx.strokeRect(left + 0.5, 0.5, width - 1, frame.height - 1);
}

function windows(ctx: CanvasRenderingContext2D, frame: LoadFrame, span: TimeSpan, series: Series, of: OpSeries | undefined, place: { left: number; width: number }, colours: OverlayColours): void {
  of?.windows.start.forEach((start, row) => {
    const slowdown = of.windows.slowdown[row] ?? null;
    if (slowdown === null) return;
    const top = yOf(span, frame.height, after(start, series.window));
    const height = Math.max(1, yOf(span, frame.height, start) - top);
    ctx.fillStyle = rampColour(slowdown, colours.ramp);
    ctx.fillRect(place.left, top, place.width, height + 0.5);
    if (of.windows.slow[row] !== true || of.windows.host_busy[row] === true) return;
    ctx.fillStyle = colours.ink;
    ctx.fillRect(place.left, top, 2, height + 0.5);
  });
}

/** Names below their columns, along them; those who make more than half have a mark, too. */
function names(ctx: CanvasRenderingContext2D, { frame, load, half, cursor: at }: OverlayModel, colours: OverlayColours): void {
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  const label = (slot: Slot, text: string, hot: boolean, chosen: boolean): void => {
    ctx.save();
    ctx.translate(slot.left + Math.min(slot.width / 2, 12), frame.height + 7);
    ctx.rotate(-Math.PI / 2.6);
    ctx.font = `${hot || chosen ? "600 " : ""}12px ${colours.font}`;
    ctx.fillStyle = hot ? colours.half : chosen ? colours.ink : colours.soft;
    ctx.fillText(hot ? `${shortened(text)} \u25b2` : shortened(text), 0, 0);
    ctx.restore();
  };
  frame.columns.forEach((slot, i) => {
    const name = load?.columns[i]?.name ?? "";
    label(slot, name === "" ? "(no name)" : name, half.has(name), at?.column === i);
  });
}

const LONGEST = 15;
const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}\u2026` : text);

function cursor(ctx: CanvasRenderingContext2D, { frame, span, cursor: at }: OverlayModel, colours: OverlayColours): void {
  if (at === null) return;
  const y = Math.round(yOf(span, frame.height, at.at));
  if (y < 0 || y > frame.height) return;
  ctx.fillStyle = colours.accent;
  ctx.fillRect(frame.strip.left - frame.plot.left, y, frame.width - frame.strip.left, 1);
  const slot = at.column === null ? null : at.column < 0 ? frame.total : (frame.columns[at.column] ?? null);
  if (slot === null) return;
  ctx.strokeStyle = colours.accent;
  ctx.lineWidth = 1.5;
  ctx.strokeRect(slot.left - 1.5, 0.5, slot.width + 3, frame.height - 1);
}
