// An operation that has not ended: its age as it grew, from when it was due to when it was last heard of.
import { after, ms } from "../../api/time.ts";
import { formatDuration } from "../shared/format.ts";
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
  const end = { x: frame.x(after(open.due, open.age)), y: frame.y(open.age) };
  ctx.fillStyle = frame.palette.failed;
  ctx.beginPath();
  ctx.arc(end.x, end.y, 3.5 * ratio, 0, 2 * Math.PI);
  ctx.fill();
  label(frame, `open for ${formatDuration(open.age)}`, frame.x(open.due), end);
  ctx.restore();
};

/** Left of where the curve begins to rise; below its end when there is no room. */
function label(frame: Frame, text: string, begin: number, end: { x: number; y: number }): void {
  const { ctx, ratio } = frame;
  ctx.font = `600 ${12 * ratio}px ${frame.palette.font}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "top";
  ctx.lineWidth = 3 * ratio;
  ctx.strokeStyle = frame.palette.surface;
  const gap = 8 * ratio;
  const width = ctx.measureText(text).width + gap;
  const room = begin - gap - width > frame.left;
  const x = room ? begin - gap : Math.max(end.x - gap, frame.left + width);
  const y = Math.max(room ? end.y - 4 * ratio : end.y + gap, frame.top + 2 * ratio);
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}
