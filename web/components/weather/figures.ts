// The six figures of the method's paper, bursts and densities, drawn by the server: a kind, a span of time, the page's theme.
// Nothing is asked for while the section is closed, and a moving view is drawn again only when asked to.
import { figureUrl } from "../../api/client.ts";
import type { FigureQuery } from "../../api/client.ts";
import { sameTarget } from "../../api/model.ts";
import type { TargetKey } from "../../api/model.ts";
import { before, ms } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { h, setText } from "../shared/dom.ts";
import { isDark } from "../shared/theme.ts";

const HOUR = 3_600_000;
const SPANS: readonly (readonly [string, string, Ms | null])[] = [
  ["view", "the span in view", null],
  ["24h", "24 h", ms(24 * HOUR)],
  ["7d", "7 days", ms(168 * HOUR)],
  ["30d", "30 days", ms(720 * HOUR)],
];
/** Kind, name, the span it is made for. */
const KINDS: readonly (readonly [string, string, string])[] = [
  ["points", "every operation", "view"],
  ["hosts", "boxes by host", "view"],
  ["phases", "latency and slowdown", "view"],
  ["statistics", "statistics of 4 h as boxes", "30d"],
  ["timeline", "statistics of 4 h over time", "30d"],
  ["slowdown", "slowdown at 10 min and 4 h", "30d"],
  ["bursts", "bursts, and which statistic shows them", "view"],
  ["density", "density of latency", "view"],
];
/** CSS pixels an inch: text of 8 points is then 11 pixels high. */
const PX_PER_INCH = 100;
const PNG_PX_PER_INCH = 130;

export interface View {
  readonly key: TargetKey | null;
  readonly from: UnixMs;
  readonly to: UnixMs;
  readonly zone: string | null;
}

const select = (name: string, options: readonly (readonly [string, string, ...unknown[]])[]): HTMLSelectElement =>
  h("select", { "aria-label": name }, ...options.map(([value, text]) => h("option", { value }, text)));

export class Figures {
  readonly element: HTMLDetailsElement;
  private readonly kind = select("Figure", KINDS);
  private readonly span = select("Span of time", SPANS);
  private readonly image = h("img", { class: "figure-image", alt: "", hidden: true });
  private readonly note = h("p", { class: "figure-note", role: "status" });
  private readonly links = h("p", { class: "figure-links" });
  private view: View | null = null;

  constructor() {
    const again = h("button", { type: "button", class: "quiet" }, "Draw again");
    this.element = h(
      "details",
      { class: "figures" },
      h("summary", {}, "Figures"),
      h("div", { class: "figure-pickers" }, this.kind, this.span, again),
      this.note,
      this.image,
      this.links,
    );
    this.element.addEventListener("toggle", () => this.draw());
    again.addEventListener("click", () => this.draw());
    this.span.addEventListener("change", () => this.draw());
    this.kind.addEventListener("change", () => {
      this.span.value = KINDS.find(([kind]) => kind === this.kind.value)?.[2] ?? "view";
      this.draw();
    });
    this.image.addEventListener("load", () => this.loaded());
    this.image.addEventListener("error", () => this.say("Nothing was measured in this span, or the server cannot draw it."));
  }

  /** What is looked at; draws anew only for another target. */
  show(view: View): void {
    const changed = this.view !== null && !sameTarget(view.key, this.view.key);
    this.view = view;
    if (changed) this.draw();
  }

  /** In the page's theme, at the section's width. */
  draw(): void {
    const query = this.query();
    if (!this.element.open || query === null) return;
    this.say("Drawing …");
    const scale = Math.min(3, Math.max(1, (window.devicePixelRatio * PX_PER_INCH) / PNG_PX_PER_INCH));
    this.image.src = figureUrl({ ...query, format: "png", scale });
    const link = (format: string): HTMLAnchorElement => h("a", { href: figureUrl({ ...query, format, scale: 1 }) }, format.toUpperCase());
    this.links.replaceChildren("The same as ", link("svg"), ", ", link("pdf"), ", numbers as ", link("json"));
  }

  private query(): Omit<FigureQuery, "format" | "scale"> | null {
    if (this.view === null || this.view.key === null) return null;
    const { key, from, to, zone } = this.view;
    const length = SPANS.find(([name]) => name === this.span.value)?.[2] ?? null;
    const width = Math.min(14, Math.max(3.4, this.element.clientWidth / PX_PER_INCH));
    const kind = this.kind.value;
    // Boxes by host compare the hosts that watch this target.
    const host = kind === "hosts" ? null : key.host;
    return { kind, host, target: key.target, since: length === null ? from : before(to, length), until: to, zone, dark: isDark(), width };
  }

  private loaded(): void {
    this.image.hidden = false;
    this.image.alt = `${KINDS.find(([kind]) => kind === this.kind.value)?.[1] ?? "figure"}, ${this.view?.key?.target ?? ""}`;
    setText(this.note, "");
  }

  private say(text: string): void {
    this.image.hidden = true;
    setText(this.note, text);
  }
}
