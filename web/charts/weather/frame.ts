// Where a layer draws: the plot area in canvas pixels, and what is in it.
import type { OpSeries, Points } from "../../api/generated.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import type { GridCell, OpenOperation } from "./grid.ts";
import type { Palette } from "./palette.ts";
import type { Extent } from "./scale.ts";

/** Everything a panel shows. The series is as the server sent it; `live` came by the feed since. */
export interface PanelModel {
  readonly series: OpSeries | null;
  readonly live: Points;
  readonly open: OpenOperation | null;
  readonly from: UnixMs;
  readonly to: UnixMs;
  readonly window: Ms;
  readonly asOf: UnixMs;
  readonly cells: readonly GridCell[];
  readonly extent: Extent;
}

export interface Frame {
  readonly ctx: CanvasRenderingContext2D;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Canvas pixels per CSS pixel. */
  readonly ratio: number;
  readonly x: (t: UnixMs) => number;
  readonly y: (d: Ms) => number;
  readonly palette: Palette;
}

export type Layer = (frame: Frame, model: PanelModel) => void;

/** Linear in time, logarithmic in latency; outside values land outside, the frame clips. */
export function makeFrame(
  ctx: CanvasRenderingContext2D,
  box: { left: number; top: number; width: number; height: number },
  ratio: number,
  model: PanelModel,
  palette: Palette,
): Frame {
  const { min, max } = model.extent;
  const perMs = box.width / (model.to - model.from);
  const low = Math.log(min);
  const perLog = box.height / (Math.log(max) - low);
  return {
    ctx,
    ...box,
    ratio,
    x: (t) => box.left + (t - model.from) * perMs,
    y: (d) => box.top + box.height - (Math.log(Math.max(d, 1e-9)) - low) * perLog,
    palette,
  };
}

/** Runs `draw` with drawing confined to the rectangle. */
export function clipped(
  ctx: CanvasRenderingContext2D,
  box: { left: number; top: number; width: number; height: number },
  draw: () => void,
): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(box.left, box.top, box.width, box.height);
  ctx.clip();
  draw();
  ctx.restore();
}
