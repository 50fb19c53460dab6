// What the marks of a load mean, each drawn as it is.
import { h, svg } from "../shared/dom.ts";

function swatch(...marks: readonly (readonly [string, number, number])[]): SVGElement {
  const picture = svg("svg", { class: "swatch", viewBox: "0 0 26 14", "aria-hidden": "true" });
  for (const [name, x, width] of marks) picture.append(svg("rect", { class: name, x: String(x), width: String(width), y: "1", height: "12" }));
  return picture;
}

export function legend(): HTMLElement {
  const key = (words: string, ...marks: readonly (readonly [string, number, number])[]): HTMLElement => h("li", {}, swatch(...marks), words);
  return h(
    "ul",
    { class: "key load-key" },
    key("mean rate of a cell", ["load-fill", 0, 18]),
    key("largest record in it", ["load-tint", 0, 22], ["load-line", 22, 2]),
    key("total in the marked range", ["load-band-key", 0, 26]),
    key("\u25b2 makes more than half there", ["load-half", 0, 18]),
    key("\u25b8 its highest rates are beyond its width", ["load-fill", 0, 24]),
    key("strip at the left: slowdown of what was probed, of reads, writes, creates, stats, small reads, deletes; a dark edge where slow", ["load-slow", 4, 18], ["load-slow-edge", 4, 3]),
  );
}
