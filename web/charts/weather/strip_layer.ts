// The slowdown strip below the plot: one cell a window, colour by slowdown on a log ramp. A slow window also
// carries a bar on top. No number looks like none: hatched where nothing was measured, hollow while learning.
import { after } from "../../api/time.ts";
import type { Frame, PanelModel } from "./frame.ts";
import { clipped } from "./frame.ts";
import { rampColour } from "../shared/ramp.ts";

/** CSS pixels: distance of the strip from the plot, and its height. */
export const STRIP_GAP = 6;
export const STRIP_HEIGHT = 20;
const BAR = 4;

export function drawStrip(frame: Frame, model: PanelModel): void {
  const { ctx, ratio } = frame;
  const box = {
    left: frame.left,
    top: Math.round(frame.top + frame.height + STRIP_GAP * ratio),
    width: frame.width,
    height: Math.round(STRIP_HEIGHT * ratio),
  };
  const windows = model.series?.windows ?? null;
  clipped(ctx, box, () => {
    for (const cell of model.cells) {
      const left = Math.round(frame.x(cell.start));
      const right = Math.round(frame.x(after(cell.start, model.window)));
      const gap = right - left > 5 * ratio ? Math.max(1, Math.round(ratio * 0.75)) : 0;
      const area = { left, top: box.top, width: Math.max(right - left - gap, 1), height: box.height };
      const slowdown = cell.row === null ? null : (windows?.slowdown[cell.row] ?? null);
      if (cell.kind === "known" && slowdown !== null) {
        ctx.globalAlpha = cell.filling ? 0.6 : 1;
        ctx.fillStyle = rampColour(slowdown, frame.palette.ramp);
        ctx.fillRect(area.left, area.top, area.width, area.height);
        ctx.globalAlpha = 1;
        const row = cell.row ?? -1;
        if (windows?.slow[row] === true) slowBar(frame, area, windows.host_busy[row] === true);
      } else if (cell.kind === "learning") {
        hollow(frame, area);
      } else if (cell.kind !== "future") {
        hatch(frame, area, cell.kind !== "missing");
      }
    }
  });
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Full for slow storage; dotted when the probing host was busy and it says nothing about the storage. */
function slowBar(frame: Frame, area: Area, host_busy: boolean): void {
  const height = Math.round(BAR * frame.ratio);
  frame.ctx.fillStyle = frame.palette.ink;
  if (!host_busy) return frame.ctx.fillRect(area.left, area.top, area.width, height);
  for (let x = area.left; x < area.left + area.width; x += 2 * height) {
    frame.ctx.fillRect(x, area.top, Math.min(height, area.left + area.width - x), height);
  }
}

/** A median is known, what is usual is not yet: an outline with nothing in it. */
function hollow(frame: Frame, area: Area): void {
  const { ctx, ratio } = frame;
  ctx.strokeStyle = frame.palette.faint;
  ctx.lineWidth = ratio;
  const top = area.top + ratio / 2;
  const bottom = area.top + area.height - ratio / 2;
  ctx.beginPath();
  ctx.moveTo(area.left, top);
  ctx.lineTo(area.left + area.width, top);
  ctx.moveTo(area.left, bottom);
  ctx.lineTo(area.left + area.width, bottom);
  ctx.stroke();
}

/** Nothing was measured, or too little for a number. */
function hatch(frame: Frame, area: Area, few: boolean): void {
  const { ctx, ratio } = frame;
  clipped(ctx, area, () => {
    ctx.strokeStyle = few ? frame.palette.failed : frame.palette.faint;
    ctx.globalAlpha = few ? 0.75 : 0.5;
    ctx.lineWidth = ratio;
    ctx.beginPath();
    // Lines of one pattern across neighbouring cells: their places depend on x + y only.
    const every = 6 * ratio;
    const first = Math.floor(area.left / every) * every;
    for (let x = first; x < area.left + area.width + area.height; x += every) {
      ctx.moveTo(x, area.top);
      ctx.lineTo(x - area.height, area.top + area.height);
    }
    ctx.stroke();
  });
}
