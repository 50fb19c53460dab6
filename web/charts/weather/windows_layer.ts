// Windows: the interval of the median as a band, the median as a line, the baseline dashed.
// Each window is drawn over the time it covers; where there is no window there is nothing.
import type { Windows } from "../../api/generated.ts";
import { after } from "../../api/time.ts";
import type { Ms } from "../../api/time.ts";
import type { Frame, Layer, PanelModel } from "./frame.ts";

const known = (model: PanelModel): Windows | null => model.series?.windows ?? null;

/** A faint column behind every slow stretch, from its first slow operation to its last, so that points and strip are seen as one. */
export const slowTint: Layer = (frame, model) => {
  frame.ctx.fillStyle = frame.palette.slowTint;
  for (const stretch of model.series?.stretches ?? []) {
    const left = Math.max(frame.left, frame.x(stretch.start));
    const right = Math.min(frame.left + frame.width, frame.x(stretch.end));
    if (right > left) frame.ctx.fillRect(left, frame.top, right - left, frame.height);
  }
};

export const medianBand: Layer = (frame, model) => {
  const windows = known(model);
  if (windows === null) return;
  frame.ctx.fillStyle = frame.palette.band;
  for (const cell of model.cells) {
    if (cell.row === null) continue;
    const lower = windows.q50_lower[cell.row];
    const upper = windows.q50_upper[cell.row];
    if (lower == null || upper == null) continue;
    const left = frame.x(cell.start);
    const top = frame.y(upper);
    const height = Math.max(frame.y(lower) - top, 2 * frame.ratio);
    frame.ctx.fillRect(left, top, frame.x(after(cell.start, model.window)) - left, height);
  }
};

export const medianLine: Layer = (frame, model) => {
  steps(frame, model, (windows, row) => windows.q50[row], {
    colour: frame.palette.median,
    width: 2 * frame.ratio,
    dash: [],
  });
};

export const baselineLine: Layer = (frame, model) => {
  steps(frame, model, (windows, row) => windows.baseline[row], {
    colour: frame.palette.usual,
    width: 1.5 * frame.ratio,
    dash: [6 * frame.ratio, 4 * frame.ratio],
  });
};

interface Pen {
  readonly colour: string;
  readonly width: number;
  readonly dash: number[];
}

/** A level a window; neighbours are joined, a gap stays a gap. */
function steps(
  frame: Frame,
  model: PanelModel,
  value: (windows: Windows, row: number) => Ms | null | undefined,
  pen: Pen,
): void {
  const windows = known(model);
  if (windows === null) return;
  const { ctx } = frame;
  ctx.save();
  ctx.strokeStyle = pen.colour;
  ctx.lineWidth = pen.width;
  ctx.lineJoin = "round";
  ctx.setLineDash(pen.dash);
  ctx.beginPath();
  let joined = false;
  for (const cell of model.cells) {
    const level = cell.row === null ? null : value(windows, cell.row);
    if (level == null) {
      joined = false;
      continue;
    }
    const y = frame.y(level);
    const left = frame.x(cell.start);
    if (joined) ctx.lineTo(left, y);
    else ctx.moveTo(left, y);
    ctx.lineTo(frame.x(after(cell.start, model.window)), y);
    joined = true;
  }
  ctx.stroke();
  ctx.restore();
}
