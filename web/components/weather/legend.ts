// What the picture's signs mean, and the words that need an explanation: service and response time, usual, slowdown.
import type { About } from "../../api/generated.ts";
import { formatSpan } from "../../charts/shared/format.ts";
import { h, svg } from "../shared/dom.ts";
import type { Child } from "../shared/dom.ts";

const swatch = (name: string, ...shapes: Child[]): SVGElement =>
  svg("svg", { viewBox: "0 0 26 14", class: `swatch swatch-${name}`, "aria-hidden": "true" }, ...shapes);

const item = (picture: Node, text: string): HTMLElement => h("li", {}, picture, text);

function marks(): HTMLElement {
  const dots = [[5, 9], [10, 6], [15, 8], [20, 5]].map(([x, y]) =>
    svg("rect", { x: String(x), y: String(y), width: "2.6", height: "2.6" }),
  );
  return h(
    "ul",
    { class: "key" },
    item(swatch("point", ...dots), "service time of one operation"),
    item(swatch("held", svg("circle", { cx: "13", cy: "7", r: "4" })), "held up: what a user waited"),
    item(swatch("median", svg("rect", { x: "1", y: "3", width: "24", height: "8" }), svg("path", { d: "M1 7h24" })), "window median, 95% interval"),
    item(swatch("usual", svg("path", { d: "M1 7h24" })), "usual"),
    item(swatch("failed", svg("path", { d: "M9 3l8 8M9 11l8-8" })), "failed"),
    item(swatch("skipped", svg("rect", { x: "9.5", y: "3.5", width: "7", height: "7" })), "skipped: an earlier one still blocked"),
    item(swatch("open", svg("path", { d: "M2 12C9 11 15 8 20 4" }), svg("circle", { cx: "20", cy: "4", r: "2.6" })), "still open"),
    item(swatch("event", svg("path", { d: "M3 13V3H23V13" })), "event, from begin to end; dashed: no end in view"),
    item(swatch("density", svg("rect", { x: "1", y: "2", width: "8", height: "10", opacity: "0.25" }), svg("rect", { x: "9", y: "2", width: "8", height: "10", opacity: "0.6" }), svg("rect", { x: "17", y: "2", width: "8", height: "10" })), "many operations, counted"),
  );
}

function strip(): HTMLElement {
  const ticks = ["1x", "1.5x", "2x", "4x", "8x", "16x"].map((t) => h("span", {}, t));
  return h(
    "div",
    { class: "key-strip" },
    h("span", { class: "key-label" }, "slowdown"),
    h("div", { class: "ramp-box" }, h("div", { class: "ramp" }), h("div", { class: "ramp-ticks" }, ...ticks)),
    h(
      "ul",
      { class: "key" },
      item(h("span", { class: "cell cell-slow" }), "slow window"),
      item(h("span", { class: "cell cell-busy" }), "slow, but the probing host was busy"),
      item(h("span", { class: "cell cell-learning" }), "learning what is usual"),
      item(h("span", { class: "cell cell-few" }), "hanging, or too few ended well"),
      item(h("span", { class: "cell cell-missing" }), "not measured"),
    ),
  );
}

function words(about: About | null): HTMLElement {
  const trailing = about === null ? "the days before" : `the ${formatSpan(about.baseline_trailing)} before`;
  const rule =
    about === null
      ? ""
      : ` A window is called slow from ${about.slow_at}x on, if the lower end of the interval is at least ${about.slow_lower_at}x.`;
  return h(
    "dl",
    {},
    h("dt", {}, "service time"),
    h("dd", {}, "From the instant an operation began until it ended. Dots, medians and usual are service times."),
    h("dt", {}, "response time"),
    h("dd", {}, "From the instant an operation was due until it ended. When the storage stalls, the wait of the operations behind it counts too, so a stall cannot hide. Only what was held up, skipped or failed stands at its response time, with a sign of its own."),
    h("dt", {}, "usual"),
    h("dd", {}, `The baseline of this operation on this target: the median of the window medians of ${trailing}. Not known until 5 windows are.`),
    h("dt", {}, "slowdown"),
    h("dd", {}, `A window's median latency divided by what is usual: 1x is as usual, 3x takes three times as long. In brackets its 95% interval; n is how many operations it rests on.${rule}`),
    h("dt", {}, "no number"),
    h("dd", {}, "Where too few operations ended well, or nothing was watching, there is no number: the strip is hatched, never zero."),
  );
}

/** The key, always in view, and the explanations, folded. */
export function legend(about: About | null): HTMLElement {
  return h(
    "section",
    { class: "legend surface", "aria-label": "How to read the panels" },
    marks(),
    strip(),
    h("details", {}, h("summary", {}, "What do service time, response time, usual and slowdown mean?"), words(about)),
    h("p", { class: "hint" }, "Drag across a panel to zoom, double-click to go back. With the keyboard: focus a panel, then arrow keys."),
  );
}
