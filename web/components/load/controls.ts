// What is shown of a load: by whom, beside which target, how far back, on which scale.
import type { Target } from "../../api/generated.ts";
import type { ColumnKind } from "../../api/load.ts";
import type { TargetKey } from "../../api/model.ts";
import { hours, minutes } from "../../api/time.ts";
import type { Ms } from "../../api/time.ts";
import { h } from "../shared/dom.ts";

const KINDS: readonly (readonly [ColumnKind, string])[] = [
  ["user", "users"],
  ["account", "accounts"],
  ["name", "applications"],
  ["job", "jobs"],
  ["nodes", "node groups"],
];
const RANGES: readonly (readonly [string, Ms | null])[] = [
  ["All", null],
  ["1 y", hours(8760)],
  ["90 d", hours(2160)],
  ["30 d", hours(720)],
  ["7 d", hours(168)],
  ["24 h", hours(24)],
  ["1 h", hours(1)],
  ["10 min", minutes(10)],
];

export interface ControlEvents {
  readonly by: (kind: ColumnKind) => void;
  readonly target: (key: TargetKey | null) => void;
  readonly own: (own: boolean) => void;
  /** So long, about the middle of what is seen; null: all. */
  readonly length: (length: Ms | null) => void;
  readonly zoom: (factor: number) => void;
}

export class Controls {
  readonly element: HTMLElement;
  private readonly by = h("select", { "aria-label": "A column for each" });
  private readonly target = h("select", { "aria-label": "Slowdown of" });
  private readonly scale = h("select", { "aria-label": "Width of columns" });
  private targets: readonly Target[] = [];

  constructor(on: ControlEvents) {
    this.by.append(...KINDS.map(([value, words]) => h("option", { value }, words)));
    this.scale.append(h("option", { value: "one" }, "one scale"), h("option", { value: "own" }, "own scales"));
    this.by.addEventListener("change", () => on.by(KINDS.find(([kind]) => kind === this.by.value)?.[0] ?? "user"));
    this.scale.addEventListener("change", () => on.own(this.scale.value === "own"));
    this.target.addEventListener("change", () => on.target(this.targets[Number(this.target.value)] ?? null));
    const ranges = RANGES.map(([words, length]) => {
      const button = h("button", { type: "button", class: "quiet" }, words);
      button.addEventListener("click", () => on.length(length));
      return button;
    });
    const zoom = (words: string, label: string, factor: number): HTMLElement => {
      const button = h("button", { type: "button", class: "quiet", "aria-label": label }, words);
      button.addEventListener("click", () => on.zoom(factor));
      return button;
    };
    const picker = (words: string, select: HTMLElement): HTMLElement => h("label", { class: "load-picker" }, `${words} `, select);
    this.element = h(
      "div",
      { class: "load-controls" },
      picker("Columns", this.by),
      picker("Slowdown of", this.target),
      picker("Widths", this.scale),
      h("div", { class: "load-ranges", role: "group", "aria-label": "Range" }, ...ranges, zoom("+", "Zoom in", 0.5), zoom("\u2212", "Zoom out", 2)),
    );
  }

  show(by: ColumnKind, target: TargetKey | null, own: boolean, targets: readonly Target[]): void {
    this.targets = targets;
    this.by.value = by;
    this.scale.value = own ? "own" : "one";
    this.target.replaceChildren(...(targets.length === 0 ? [h("option", { value: "" }, "no target")] : targets.map((one, i) => h("option", { value: String(i) }, `${one.target} on ${one.host}`))));
    const at = targets.findIndex((one) => one.host === target?.host && one.target === target.target);
    if (at >= 0) this.target.value = String(at);
  }
}
