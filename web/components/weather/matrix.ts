// Hosts and targets as a grid: how slow each host sees each target. The host with most slow targets is the first row,
// the target with most slow hosts the first column, so a row that stands out is a host, a column a target.
import type { Target } from "../../api/generated.ts";
import { formatFactor } from "../../charts/shared/format.ts";
import { rampColour } from "../../charts/shared/ramp.ts";
import type { Palette } from "../../charts/weather/palette.ts";
import { inkOn } from "../../charts/weather/scale.ts";
import { h, setAttribute, setText } from "../shared/dom.ts";

/** So many hosts are drawn at first. */
const FEW = 30;

/** Several hosts watch, and one target at least is watched by more than one of them. */
export function isFleet(targets: readonly Target[]): boolean {
  const names = new Set(targets.map((one) => one.target));
  return names.size < targets.length;
}

export class Matrix {
  readonly element: HTMLElement;
  private readonly head = h("tr", {});
  private readonly rows = h("tbody", {});
  private readonly more = h("button", { type: "button", class: "quiet", hidden: true });
  private readonly choose: (target: Target) => void;
  private readonly cells = new Map<string, HTMLButtonElement>();
  private shape = "";
  private all = false;
  private last: (() => void) | null = null;

  constructor(choose: (target: Target) => void) {
    this.choose = choose;
    this.more.addEventListener("click", () => {
      this.all = true;
      this.last?.();
    });
    const caption = h("caption", { class: "visually-hidden" }, "How slow each host sees each target, the worst first");
    this.element = h("div", { class: "matrix" }, h("div", { class: "matrix-scroll surface", tabindex: "0", role: "group", "aria-label": "Hosts and targets" }, h("table", {}, caption, h("thead", {}, this.head), this.rows)), this.more);
  }

  /** `targets`: the worst first, as the server sends them. */
  show(targets: readonly Target[], chosen: Target | null, palette: Palette): void {
    this.last = () => this.show(targets, chosen, palette);
    const hosts = ordered(targets, (one) => one.host);
    const names = ordered(targets, (one) => one.target);
    const shown = this.all ? hosts : hosts.slice(0, FEW);
    const of = new Map(targets.map((one) => [keyOf(one.host, one.target), one]));
    // A grid that is in use keeps its order: it must not move under a pointer or a focus.
    const shape = [shown.join("\n"), names.join("\n")].join("\0");
    if (shape !== this.shape && !(this.shape !== "" && this.element.contains(document.activeElement) && this.sameNames(of))) this.build(shown, names, of, shape);
    for (const [key, cell] of this.cells) this.fill(cell, of.get(key) ?? null, chosen, palette);
    this.more.hidden = shown.length === hosts.length;
    setText(this.more, `show all ${hosts.length} hosts`);
  }

  private sameNames(of: ReadonlyMap<string, Target>): boolean {
    return [...this.cells.keys()].every((key) => of.has(key));
  }

  private build(hosts: readonly string[], names: readonly string[], of: ReadonlyMap<string, Target>, shape: string): void {
    this.shape = shape;
    this.cells.clear();
    this.head.replaceChildren(h("th", { scope: "col", class: "matrix-corner" }, "host"), ...names.map((name) => h("th", { scope: "col" }, h("span", {}, name))));
    this.rows.replaceChildren(
      ...hosts.map((host) => h("tr", { "data-host": host }, h("th", { scope: "row" }, host), ...names.map((name) => this.place(host, name, of)))),
    );
  }

  private place(host: string, name: string, of: ReadonlyMap<string, Target>): HTMLElement {
    if (!of.has(keyOf(host, name))) return h("td", { class: "matrix-none", title: `${host} does not watch ${name}` });
    const cell = h("button", { type: "button", "data-host": host, "data-target": name });
    cell.addEventListener("click", () => {
      const target = this.targets.get(cell);
      if (target !== undefined) this.choose(target);
    });
    this.cells.set(keyOf(host, name), cell);
    return h("td", {}, cell);
  }

  private readonly targets = new WeakMap<HTMLButtonElement, Target>();

  private fill(cell: HTMLButtonElement, target: Target | null, chosen: Target | null, palette: Palette): void {
    if (target === null) return;
    this.targets.set(cell, target);
    const { severity, slowdown, host, target: name } = target;
    const known = severity !== "unknown" && severity !== "hung" && slowdown !== null;
    setText(cell, known ? formatFactor(slowdown) : (WORDS[target.kind] ?? target.brief));
    cell.dataset["severity"] = severity;
    setAttribute(cell, "aria-label", `${name} from ${host}: ${target.sentence}`);
    setAttribute(cell, "title", target.sentence);
    setAttribute(cell, "aria-pressed", String(target === chosen));
    const background = known ? rampColour(slowdown, palette.ramp) : "";
    cell.style.backgroundColor = background;
    cell.style.color = background === "" ? "" : inkOn(background);
  }
}

/** Names of one side: those with most cells that are slow or hang first, then as the server has them, the worst first. */
function ordered(targets: readonly Target[], name: (target: Target) => string): string[] {
  const bad = new Map<string, number>();
  for (const one of targets) bad.set(name(one), (bad.get(name(one)) ?? 0) + (one.severity === "slow" || one.severity === "hung" ? 1 : 0));
  return [...bad.keys()].sort((a, b) => (bad.get(b) ?? 0) - (bad.get(a) ?? 0));
}

/** Shorter than in brief: a cell has room for one word. */
const WORDS: Readonly<Record<string, string>> = { hung: "hangs", failing: "fails", stopped: "off", stale: "silent", damaged: "?", learning: "learns", few: "few" };

const keyOf = (host: string, target: string): string => `${host}\n${target}`;
