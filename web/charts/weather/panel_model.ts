// From a series to what a panel shows: the view's span, its axis, its grid of windows. No statistics.
import type { OpSeries, Points } from "../../api/generated.ts";
import { emptyPoints } from "../../api/tail.ts";
import type { Ms } from "../../api/time.ts";
import type { PanelModel } from "./frame.ts";
import { gridCells } from "./grid.ts";
import { latencyOf } from "./points_layer.ts";
import type { OpenOperation, Span } from "./grid.ts";
import { logExtent } from "./scale.ts";

const NO_WINDOWS = {
  start: [],
  n_due: [],
  n_seen: [],
  q50: [],
  q50_lower: [],
  q50_upper: [],
  q90: [],
  max: [],
  baseline: [],
  slowdown: [],
  slowdown_lower: [],
  slowdown_upper: [],
  slow: [],
  host_busy: [],
};

export interface PanelSource {
  readonly series: OpSeries | null;
  readonly live: Points | null;
  readonly open: OpenOperation | null;
}

export function panelModel({ series, live, open }: PanelSource, view: Span): PanelModel {
  const windows = series?.windows ?? NO_WINDOWS;
  const cells = series === null ? [] : gridCells(windows, view, open);
  const shown = cells.flatMap((c) => (c.row === null ? [] : [c.row]));
  return {
    ...view,
    series,
    live: live ?? emptyPoints(),
    open,
    cells,
    extent: logExtent([...latencies(series, live, view, shown), open?.age ?? null]),
  };
}

function* latencies(series: OpSeries | null, live: Points | null, view: Span, rows: readonly number[]): Iterable<Ms | null> {
  for (const points of [series?.points ?? null, live]) {
    if (points === null) continue;
    for (let i = 0; i < points.due.length; i += 1) {
      const due = points.due[i];
      if (due !== undefined && due >= view.from && due <= view.to) yield latencyOf(points, i);
      if (points.held_up[i] === true && due !== undefined && due >= view.from && due <= view.to) yield points.response[i] ?? null;
    }
  }
  const cells = series?.cells ?? null;
  if (cells !== null) {
    for (const counts of [cells.ok, cells.failed]) {
      for (const row of counts.latency) {
        yield cells.edges[row] ?? null;
        yield cells.edges[row + 1] ?? null;
      }
    }
  }
  for (const row of rows) {
    yield series?.windows.q50_lower[row] ?? null;
    yield series?.windows.q50_upper[row] ?? null;
    yield series?.windows.baseline[row] ?? null;
  }
}
