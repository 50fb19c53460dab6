// Long ranges: the exact number of operations in each cell of time and latency, none left out.
import type { CellCounts, Cells } from "../../api/generated.ts";
import { after, ms } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";
import type { Frame, Layer } from "./frame.ts";
import { drawMark } from "./points_layer.ts";
import { densityAlpha } from "./scale.ts";

export const density: Layer = (frame, model) => {
  const cells = model.series?.cells ?? null;
  if (cells === null) return;
  const { ctx } = frame;
  const most = mostIn(cells.ok);
  ctx.save();
  ctx.fillStyle = frame.palette.density;
  each(cells, cells.ok, (t, low, high, count) => {
    // Whole pixels: neighbours touch, so that no seams are drawn that are not in the data.
    const left = Math.round(frame.x(t));
    const right = Math.round(frame.x(after(t, cells.step)));
    const top = Math.round(frame.y(ms(high)));
    const bottom = Math.round(frame.y(ms(low)));
    ctx.globalAlpha = densityAlpha(count, most);
    ctx.fillRect(left, top, Math.max(right - left, 1), Math.max(bottom - top, 1));
  });
  ctx.restore();
  failures(frame, cells);
};

function failures(frame: Frame, cells: Cells): void {
  each(cells, cells.failed, (t, low, high) => {
    const x = (frame.x(t) + frame.x(after(t, cells.step))) / 2;
    drawMark(frame, "failed", x, frame.y(ms(Math.sqrt(low * high))));
  });
}

export function mostIn(counts: CellCounts): number {
  let most = 1;
  for (const count of counts.count) if (count > most) most = count;
  return most;
}

/** Calls back with (start of the time bin, lower and upper latency edge in ms, count) for every cell. */
function each(
  cells: Cells,
  counts: CellCounts,
  use: (t: UnixMs, low: number, high: number, count: number) => void,
): void {
  for (let i = 0; i < counts.count.length; i += 1) {
    const bin = counts.time[i];
    const row = counts.latency[i];
    const count = counts.count[i];
    if (bin === undefined || row === undefined || count === undefined) continue;
    const low = cells.edges[row];
    const high = cells.edges[row + 1];
    if (low === undefined || high === undefined) continue;
    use(after(cells.origin, ms(bin * cells.step)), low, high, count);
  }
}
