// Tables, which can be scrolled where there is no room; the first cell of a row names it.
import type { Table } from "../../api/generated.ts";
import { h } from "./dom.ts";

/** `table` in a box of its own; `name` is read to who cannot see it. */
export const scrolled = (table: HTMLElement, name: string): HTMLElement => h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name }, table);

/** `caption`: what stands above it; `mark`: attributes of the row at a place. */
export function tableElement({ head, rows }: Table, caption: string | null = null, mark: (row: number) => Readonly<Record<string, boolean>> = () => ({})): HTMLTableElement {
  const line = (cells: readonly string[], row: number): HTMLElement => h("tr", mark(row), ...cells.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))));
  const heads = head.length === 0 ? null : h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col" }, cell))));
  return h("table", {}, caption === null ? null : h("caption", {}, caption), heads, h("tbody", {}, ...rows.map(line)));
}

export const tableOf = (table: Table, name: string): HTMLElement => scrolled(tableElement(table), name);

/** A table that is shown on demand: the same as a picture, for those who read it or have it read to them. */
export const folded = (title: string, table: HTMLElement, ...more: (HTMLElement | null)[]): HTMLDetailsElement =>
  h("details", { class: "numbers surface" }, h("summary", {}, title), scrolled(table, title), ...more);
