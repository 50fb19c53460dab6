// A run in words, tables and pictures, as `iosonde report` has it; or two of them beside their verdict.
import type { ComparedRuns, Run } from "../../api/generated.ts";
import { h, setText } from "../shared/dom.ts";
import { saveMenu } from "../shared/save_menu.ts";
import { tableOf } from "../shared/table.ts";

/** Address of a picture. */
export type PictureLink = (picture: string, more: Readonly<Record<string, string>>) => string;

const sentences = (all: readonly string[]): HTMLElement | null => (all.length === 0 ? null : h("ul", { class: "bullets" }, ...all.map((one) => h("li", {}, one))));

const part = (title: string, ...children: (HTMLElement | null)[]): HTMLElement | null =>
  children.every((child) => child === null) ? null : h("section", { class: "run-part" }, h("h3", {}, title), ...children);

/** Name and value of each. */
const facts = (rows: string[][], caption: string): HTMLElement | null => (rows.length === 0 ? null : tableOf({ head: [], rows }, caption));

/** How pictures are drawn: `width` of their place in CSS pixels. */
export interface Looks {
  readonly width: number;
  readonly dark: boolean;
}

function picturesOf(run: Run, link: PictureLink, { width, dark }: Looks): HTMLElement[] {
  const looks = { theme: dark ? "dark" : "light", width: Math.max(3.4, Math.min(16, width / 96)).toFixed(2) };
  return run.pictures.map((one) =>
    h(
      "figure",
      { class: "run-picture", "data-picture": one.name },
      ...drawn(link(one.name, { format: "svg", ...looks }), [run.headline, one.title, ...one.caption].join(". ")),
      h("figcaption", { class: "files" }, saveMenu(one.title, `its marks: ${one.title}`, (more) => link(one.name, more))),
    ),
  );
}

/** A picture, and a line in its place until the server has drawn it. */
function drawn(src: string, alt: string): HTMLElement[] {
  const picture = h("img", { src, alt });
  const line = h("p", { class: "hint" }, "Working: the server draws this picture ...");
  picture.addEventListener("load", () => line.remove());
  picture.addEventListener("error", () => setText(line, "The server sent no picture."));
  return [picture, line];
}

export function runView(run: Run, link: PictureLink, looks: Looks): HTMLElement {
  const pictures = picturesOf(run, link, looks);
  const { components } = run;
  const element = h("div", { class: "run-view surface" });
  const parts = [
    h("p", { class: "run-headline", "data-slow": run.slow }, run.headline),
    part("Rates", run.rates.rows.length === 0 ? null : tableOf(run.rates, "Rates"), sentences(run.notes)),
    components === null ? null : part("Which component is slow", sentences(components.say), components.findings.rows.length === 0 ? null : tableOf(components.findings, "Findings"), components.limits.length === 0 ? null : h("p", {}, "What this run cannot tell:"), sentences(components.limits)),
    part("Cautions", sentences(run.cautions) ?? h("p", {}, "None.")),
    pictures.length === 0 ? part("Pictures", h("p", { class: "hint" }, "None: the store has no single operations of this run. iosonde bench metadata --samples keeps them.")) : part("Pictures", ...pictures),
    part("Parameters", facts(run.parameters, "Parameters")),
    part("Machine and file system", facts(run.machine, "Machine and file system")),
    run.command === null ? null : part("How to repeat it", h("pre", {}, h("code", {}, run.command))),
  ];
  element.append(...parts.filter((one) => one !== null));
  return element;
}

/** One of two runs: its name in the verdict, the run, its pictures. */
export type Side = readonly [name: string, run: Run, link: PictureLink];

/** The verdict on B as seen from A; rates and pictures of both below it. */
export function pairView(pair: ComparedRuns, sides: readonly Side[], { width, dark }: Looks): HTMLElement {
  const verdict = h("div", { class: "run-verdict" }, ...pair.say.map((one) => h("p", {}, one)));
  const table = pair.table.rows.length === 0 ? null : tableOf(pair.table, "Rates of both");
  const note = pair.note === "" ? null : h("p", { class: "hint" }, pair.note);
  const looks = { width: width > 800 ? width / 2 - 12 : width, dark };
  const beside = sides.map(([name, run, link]) =>
    h("section", { class: "run-part" }, h("h3", {}, `${name}: ${run.title}`), h("p", { class: "hint" }, run.subtitle), h("p", { class: "run-headline", "data-slow": run.slow }, run.headline), tableOf(run.rates, `Rates of ${name}`), ...picturesOf(run, link, looks)),
  );
  const element = h("div", { class: "run-view surface" }, verdict);
  for (const one of [table, note]) if (one !== null) element.append(one);
  if (sides.some(([, run]) => run.pictures.length > 0)) element.append(h("p", { class: "hint" }, "Each run is drawn on axes of its own: compare the numbers at the axes, not heights."));
  element.append(h("div", { class: "run-sides" }, ...beside));
  return element;
}
