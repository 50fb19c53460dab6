// The strips as a table: for people who cannot see them, and for who wants the numbers.
import type { Op } from "../../api/model.ts";
import { formatInterval, formatSlowdown } from "../../charts/shared/format.ts";
import type { PanelModel } from "../../charts/weather/frame.ts";
import type { CellKind, GridCell } from "../../charts/weather/grid.ts";
import { zoneName } from "../../charts/shared/zone.ts";
import { h } from "../shared/dom.ts";
import { folded } from "../shared/table.ts";

const MOST_ROWS = 120;

const NOTHING: Record<CellKind, string> = {
  known: "",
  learning: "learning",
  few: "too few",
  open: "hung",
  missing: "not measured",
  future: "not yet",
};

/** Slowdown of every window in view, newest first. Filled only while it is open. */
export class NumberTable {
  readonly element: HTMLDetailsElement;
  private readonly caption = h("caption", {});
  private readonly head = h("thead", {});
  private readonly body = h("tbody", {});

  constructor(opened: () => void) {
    const table = h("table", {}, this.caption, this.head, this.body);
    this.element = folded("The slowdowns as a table", table);
    this.element.addEventListener("toggle", opened);
  }

  show(models: ReadonlyMap<Op, PanelModel>, words: ReadonlyMap<Op, string>): void {
    if (!this.element.open) return;
    const ops = [...models.entries()];
    const first = ops[0]?.[1];
    if (first === undefined) return;
    const starts = first.cells.length;
    this.caption.textContent = `Slowdown of the window median with its 95% interval, and n; times are ${zoneName(first.from)}`;
    this.head.replaceChildren(
      h("tr", {}, h("th", { scope: "col" }, "window"), ...ops.map(([op]) => h("th", { scope: "col" }, words.get(op) ?? op))),
    );
    const rows: HTMLElement[] = [];
    for (let i = starts - 1; i >= 0 && rows.length < MOST_ROWS; i -= 1) {
      const cell = first.cells[i];
      if (cell === undefined) continue;
      const cells = ops.map(([, model]) => number(model, model.cells[i]));
      rows.push(h("tr", {}, h("th", { scope: "row" }, formatInterval(cell.start, first.window)), ...cells));
    }
    this.body.replaceChildren(...rows);
  }
}

function number(model: PanelModel, cell: GridCell | undefined): HTMLElement {
  const windows = model.series?.windows;
  if (cell === undefined || windows === undefined || cell.row === null || cell.kind !== "known") {
    return h("td", { class: "nothing" }, cell === undefined ? "" : NOTHING[cell.kind]);
  }
  const row = cell.row;
  const text = formatSlowdown(
    windows.slowdown[row] ?? null,
    windows.slowdown_lower[row] ?? null,
    windows.slowdown_upper[row] ?? null,
  );
  const busy = windows.host_busy[row] === true;
  const slow = windows.slow[row] === true && !busy;
  const mark = busy ? "host busy " : slow ? "slow " : "";
  return h("td", { "data-slow": slow }, `${mark}${text}`, h("small", {}, ` n ${windows.n_seen[row] ?? 0}`));
}
