// Single operations at their service time, as the lines of windows are. What was held up or did not end well stands at
// what a user waited, its response time, and looks different in shape, not only in colour: a dot ended well, a ring
// ended well but was held up, a cross failed, a hollow square was skipped because an earlier operation still blocked,
// a triangle at the top edge has not ended.
import type { Points } from "../../api/generated.ts";
import type { Ms } from "../../api/time.ts";
import type { Frame, Layer } from "./frame.ts";

export type Mark = "ok" | "held up" | "failed" | "skipped" | "open";

/** How high an operation stands: service time if it ended well, else what a user waited. */
export const latencyOf = (p: Points, i: number): Ms | null => (p.outcome[i] === "ok" ? p.service[i] : p.response[i]) ?? null;

export function markOf(outcome: string, response: number | null): Mark {
  if (outcome === "ok") return "ok";
  if (outcome === "pending" || response === null) return "open";
  return outcome === "skipped" ? "skipped" : "failed";
}

export const points: Layer = (frame, model) => {
  const of = [model.series?.points ?? null, model.live];
  const n = of.reduce((sum, p) => sum + (p?.due.length ?? 0), 0);
  const size = dotSize(n, frame.width / frame.ratio) * frame.ratio;
  for (const p of of) if (p !== null) dots(frame, p, size);
  for (const p of of) if (p !== null) marks(frame, p);
};

/** CSS pixels: bigger dots where there is room. */
function dotSize(n: number, width: number): number {
  const perPixel = n / Math.max(width, 1);
  if (perPixel < 0.5) return 3;
  return perPixel < 3 ? 2.25 : 1.5;
}

function dots(frame: Frame, p: Points, size: number): void {
  const { ctx } = frame;
  ctx.fillStyle = frame.palette.point;
  const half = size / 2;
  for (let i = 0; i < p.due.length; i += 1) {
    const due = p.due[i];
    const service = p.service[i];
    if (due === undefined || service == null || p.outcome[i] !== "ok") continue;
    ctx.fillRect(frame.x(due) - half, frame.y(service) - half, size, size);
  }
}

function marks(frame: Frame, p: Points): void {
  for (let i = 0; i < p.due.length; i += 1) {
    const due = p.due[i];
    const outcome = p.outcome[i];
    if (due === undefined || outcome === undefined || (outcome === "ok" && p.held_up[i] !== true)) continue;
    const response = p.response[i] ?? null;
    drawMark(frame, outcome === "ok" ? "held up" : markOf(outcome, response), frame.x(due), response === null ? frame.top : inside(frame, frame.y(response)));
  }
}

/** What happened matters more than how long it took: a mark outside the axis stands at its edge. */
function inside(frame: Frame, y: number): number {
  const edge = 5 * frame.ratio;
  return Math.min(Math.max(y, frame.top + edge), frame.top + frame.height - edge);
}

/** One mark that is not a plain dot, centred at x, y. */
export function drawMark(frame: Frame, mark: Mark, x: number, y: number): void {
  const { ctx, ratio, palette } = frame;
  const r = 3.5 * ratio;
  ctx.lineWidth = 1.75 * ratio;
  ctx.beginPath();
  if (mark === "held up") {
    ctx.lineWidth = 1.25 * ratio;
    ctx.strokeStyle = palette.skipped;
    ctx.arc(x, y, r * 0.8, 0, 2 * Math.PI);
    ctx.stroke();
  } else if (mark === "failed") {
    ctx.strokeStyle = palette.failed;
    ctx.moveTo(x - r, y - r);
    ctx.lineTo(x + r, y + r);
    ctx.moveTo(x - r, y + r);
    ctx.lineTo(x + r, y - r);
    ctx.stroke();
  } else if (mark === "skipped") {
    ctx.strokeStyle = palette.skipped;
    ctx.strokeRect(x - r * 0.75, y - r * 0.75, r * 1.5, r * 1.5);
  } else if (mark === "open") {
    ctx.fillStyle = palette.failed;
    ctx.moveTo(x - r, y + 2 * ratio);
    ctx.lineTo(x + r, y + 2 * ratio);
    ctx.lineTo(x, y + 2 * ratio + 1.8 * r);
    ctx.closePath();
    ctx.fill();
  }
}
