// A target's card: what iosonde says about it, how old that is, and the six ops at a glance.
import type { Target } from "../../api/generated.ts";
import type { Op, Severity } from "../../api/model.ts";
import { OPS } from "../../api/model.ts";
import { between } from "../../api/time.ts";
import type { UnixMs } from "../../api/time.ts";
import { formatAge, formatFactor } from "../../charts/shared/format.ts";
import type { Palette } from "../../charts/weather/palette.ts";
import { rampColour } from "../../charts/shared/ramp.ts";
import { factorNow } from "../../charts/weather/reading.ts";
import { inkOn } from "../../charts/weather/scale.ts";
import { h, setAttribute, setText } from "../shared/dom.ts";
import { severityIcon, severityWord } from "./icons.ts";

/** Older than this, the age is worth a warning colour. */
const OLD_MS = 10_000;

export class Card {
  readonly element: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly why = h("a", { class: "card-why", hidden: true }, "why?");
  private readonly word = h("span", { class: "card-word" });
  private readonly icon = h("span", { class: "card-icon" });
  private readonly age = h("span", { class: "card-age" });
  private readonly name = h("span", { class: "card-name" });
  private readonly sentence = h("span", { class: "card-sentence" });
  private readonly chips = h("span", { class: "chips" });
  private severity: Severity | null = null;
  private target: Target;

  /** `why`: the address of the answer to it. */
  constructor(target: Target, choose: () => void, why: string) {
    this.target = target;
    this.button = h(
      "button",
      { type: "button", class: "card surface" },
      h("span", { class: "card-top" }, this.icon, this.word, this.age),
      this.name,
      this.sentence,
      this.chips,
    );
    this.button.addEventListener("click", choose);
    this.why.href = why;
    this.element = h("div", { class: "card-place" }, this.button, this.why);
  }

  show(target: Target, chosen: boolean, words: ReadonlyMap<Op, string>, palette: Palette): void {
    this.target = target;
    if (target.severity !== this.severity) {
      this.severity = target.severity;
      this.icon.replaceChildren(severityIcon(target.severity));
    }
    this.button.dataset["severity"] = target.severity;
    this.button.dataset["kind"] = target.kind;
    this.button.dataset["target"] = target.target;
    setAttribute(this.button, "aria-pressed", String(chosen));
    setText(this.word, severityWord(target.severity, target.kind));
    setText(this.name, target.target);
    this.why.hidden = target.severity !== "slow" && target.severity !== "hung";
    setAttribute(this.why, "aria-label", `why is ${target.target} ${target.brief}?`);
    setText(this.sentence, target.sentence);
    this.showChips(target, words, palette);
  }

  /** The age grows between the server's messages too. */
  tick(now: UnixMs): void {
    const { host, state } = this.target;
    const heard = state.written;
    if (heard === null) return setText(this.age, `no live state from ${host}`);
    const age = between(heard, now);
    setText(this.age, `measured ${formatAge(age)} from ${host}`);
    setAttribute(this.age, "data-old", age > OLD_MS);
  }

  private showChips(target: Target, words: ReadonlyMap<Op, string>, palette: Palette): void {
    const states = new Map(target.state.ops.map((op) => [op.op, op]));
    const unknown = target.severity === "unknown"; // what was last known is not how it is now
    const chips = OPS.filter((op) => states.has(op)).map((op) => {
      const state = unknown ? undefined : states.get(op);
      const factor = state === undefined ? null : factorNow(state)[0];
      const bad = state?.state === "hung" || state?.state === "failing" ? state.state : null;
      const value = bad ?? (factor === null ? (state?.state ?? "n/a") : formatFactor(factor));
      const chip = h("span", { class: "chip", "data-op": op }, h("span", { class: "chip-op" }, words.get(op) ?? op), h("b", {}, value));
      if (bad !== null) chip.dataset["bad"] = bad;
      else if (factor !== null) colour(chip, rampColour(factor, palette.ramp));
      return chip;
    });
    this.chips.replaceChildren(...chips);
  }
}

function colour(chip: HTMLElement, background: string): void {
  chip.style.backgroundColor = background;
  chip.style.color = inkOn(background);
}
