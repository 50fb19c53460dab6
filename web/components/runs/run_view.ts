// A run in words, tables and pictures, as `iosonde report` has it; or two of them beside their verdict.
import type { Run, RunPair, Table } from "../../api/runs.ts";
import { h } from "../shared/dom.ts";

const FORMS = [["svg", "SVG"], ["png", "PNG"], ["pdf", "PDF"]] as const;

/** Address of a picture. */
export type PictureLink = (picture: string, more: Readonly<Record<string, string>>) => string;

export function tableOf({ head, rows }: Table, caption: string): HTMLElement {
  const line = (cells: readonly string[]): HTMLElement => h("tr", {}, ...cells.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))));
  const heads = head.length === 0 ? null : h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col" }, cell))));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption }, h("table", {}, heads, h("tbody", {}, ...rows.map(line))));
}

const sentences = (all: readonly string[]): HTMLElement | null => (all.length === 0 ? null : h("ul", { class: "run-words" }, ...all.map((one) => h("li", {}, one))));

const part = (title: string, ...children: (HTMLElement | null)[]): HTMLElement | null =>
  children.every((child) => child === null) ? null : h("section", { class: "run-part" }, h("h3", {}, title), ...children);

/** `width`: of the place, CSS pixels; `dark`: looks of the pictures. */
export function runView(run: Run, link: PictureLink, width: number, dark: boolean): HTMLElement {
  const looks = { theme: dark ? "dark" : "light", width: Math.max(3.4, Math.min(16, width / 96)).toFixed(2) };
  const pictures = run.pictures.map((one) =>
    h(
      "figure",
      { class: "run-picture", "data-picture": one.name },
      h("img", { src: link(one.name, { format: "svg", ...looks }), alt: [one.title, ...one.caption].join(". ") }),
      h("figcaption", { class: "downloads" }, "The picture as ", ...FORMS.flatMap(([format, name], i) => [i === 0 ? "" : ", ", h("a", { href: link(one.name, { format, theme: looks.theme, ...(format === "png" ? { scale: "2" } : {}) }), download: true, "aria-label": `${one.title} as ${name}` }, name)])),
    ),
  );
  const { components } = run;
  const element = h("div", { class: "run-view" });
  const parts = [
    h("p", { class: "run-headline", "data-slow": run.slow }, run.headline),
    part("Rates", run.rates.rows.length === 0 ? null : tableOf(run.rates, "Rates"), sentences(run.notes)),
    components === null ? null : part("Which component is slow", sentences(components.say), components.findings.rows.length === 0 ? null : tableOf(components.findings, "Findings"), components.limits.length === 0 ? null : h("p", {}, "What this run cannot tell:"), sentences(components.limits)),
    part("Cautions", sentences(run.cautions) ?? h("p", {}, "None.")),
    pictures.length === 0 ? part("Pictures", h("p", { class: "hint" }, "None: the store has no single operations of this run. iosonde bench metadata --samples keeps them.")) : part("Pictures", ...pictures),
    part("Parameters", run.parameters.rows.length === 0 ? null : tableOf(run.parameters, "Parameters")),
    part("Machine and file system", run.machine.rows.length === 0 ? null : tableOf(run.machine, "Machine and file system")),
    run.command === null ? null : part("How to repeat it", h("pre", {}, h("code", {}, run.command))),
  ];
  element.append(...parts.filter((one) => one !== null));
  return element;
}

/** The verdict on B as seen from A; the rates of both below it. */
export function pairView(pair: RunPair, sides: readonly (readonly [string, Run])[]): HTMLElement {
  const verdict = h("div", { class: "run-verdict" }, ...pair.say.map((one) => h("p", {}, one)));
  const table = pair.table.rows.length === 0 ? null : tableOf(pair.table, "Rates of both");
  const note = pair.note === "" ? null : h("p", { class: "hint" }, pair.note);
  const beside = sides.map(([name, run]) => h("section", { class: "run-part" }, h("h3", {}, `${name}: ${run.title}`), h("p", { class: "hint" }, run.subtitle), h("p", { class: "run-headline", "data-slow": run.slow }, run.headline), tableOf(run.rates, `Rates of ${name}`)));
  const element = h("div", { class: "run-view" }, verdict);
  for (const one of [table, note]) if (one !== null) element.append(one);
  element.append(h("div", { class: "run-sides" }, ...beside));
  return element;
}
