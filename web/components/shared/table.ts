// A table as the server words it; it can be scrolled where there is no room.
import type { Table } from "../../api/runs.ts";
import { h } from "./dom.ts";

export function tableOf({ head, rows }: Table, caption: string): HTMLElement {
  const line = (cells: readonly string[]): HTMLElement => h("tr", {}, ...cells.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))));
  const heads = head.length === 0 ? null : h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col" }, cell))));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, h("table", {}, heads, h("tbody", {}, ...rows.map(line))));
}
