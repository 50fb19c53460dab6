// The evidence of an answer, a line a link: its name, how it stands (shape and word), what it says.
import type { LinkLine } from "../../api/generated.ts";
import { h, svg } from "../shared/dom.ts";

/** A full disc, a crossed one, a dashed one: readable without colour. */
const SHAPES: Readonly<Record<LinkLine["standing"], () => SVGElement[]>> = {
  found: () => [svg("circle", { cx: "8", cy: "8", r: "6", class: "standing-full" })],
  "ruled out": () => [svg("circle", { cx: "8", cy: "8", r: "6" }), svg("path", { d: "M4 12L12 4" })],
  "not known": () => [svg("circle", { cx: "8", cy: "8", r: "6", "stroke-dasharray": "2.6 2.4" })],
};

function row(line: LinkLine): HTMLElement[] {
  const sign = svg("svg", { viewBox: "0 0 16 16", class: "standing-sign", "aria-hidden": "true", focusable: "false" }, ...SHAPES[line.standing]());
  const word = line.standing;
  const said = line.text.replace(/^not known: /, ""); // the word stands beside it
  return [
    h("dt", { "data-standing": word }, h("b", {}, line.link === "" ? "what" : line.link), h("span", { class: "standing" }, sign, word)),
    h("dd", { "data-link": line.link, "data-standing": word }, said),
  ];
}

export const evidence = (lines: readonly LinkLine[]): HTMLElement => h("dl", { class: "evidence" }, ...lines.flatMap(row));
