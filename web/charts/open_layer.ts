// An operation that has not ended: its age as it grew, from when it was due to when it was last heard of.
import { after, ms } from "../api/time.ts";
import { formatDuration } from "./format.ts";
import type { Frame, Layer } from "./frame.ts";

const STEPS = 48;

export const openOperation: Layer = (frame, model) => {
  const { open, extent } = model;
  if (open === null || open.age <= extent.min) return;
  const { ctx, ratio } = frame;
  ctx.save();
  ctx.strokeStyle = frame.palette.failed;
  ctx.lineWidth = 2 * ratio;
  ctx.lineJoin = "round";
  ctx.beginPath();
  ctx.moveTo(frame.x(open.due), frame.top + frame.height);
  for (let i = 0; i <= STEPS; i += 1) {
    const age = ms(extent.min * (open.age / extent.min) ** (i / STEPS));
    ctx.lineTo(frame.x(after(open.due, age)), frame.y(age));
  }
  ctx.stroke();
  label(frame, `open for ${formatDuration(open.age)}`, frame.x(after(open.due, open.age)), frame.y(open.age));
  ctx.restore();
};

/** Left of the curve's end and below it, where there is room. */
function label(frame: Frame, text: string, x: number, y: number): void {
  const { ctx, ratio } = frame;
  ctx.fillStyle = frame.palette.failed;
  ctx.beginPath();
  ctx.arc(x, y, 3.5 * ratio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.font = `600 ${12 * ratio}px ${frame.palette.font}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.lineWidth = 3 * ratio;
  ctx.strokeStyle = frame.palette.surface;
  const at = Math.max(x - 9 * ratio, frame.left + ctx.measureText(text).width + 4 * ratio);
  const below = y + 7 * ratio;
  ctx.strokeText(text, at, below);
  ctx.fillText(text, at, below);
}
