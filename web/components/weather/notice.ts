// Nothing in view although something was measured before: say so, and offer the way there.
import type { Target } from "../../api/generated.ts";
import { before } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { formatInstant, formatSpan } from "../../charts/shared/format.ts";
import { h, setText } from "../shared/dom.ts";

export class Notice {
  readonly element: HTMLElement;
  private readonly text = h("span", {});
  private readonly button = h("button", { type: "button", class: "quiet" });
  private span: [UnixMs, UnixMs] | null = null;

  constructor(go: (from: UnixMs, to: UnixMs) => void) {
    this.element = h("p", { class: "notice", hidden: true }, this.text, this.button);
    this.button.addEventListener("click", () => {
      if (this.span !== null) go(...this.span);
    });
  }

  /** `from`: the left edge of the view, `length` its span. */
  show(target: Target | null, from: UnixMs, length: Ms): void {
    const heard = target?.state.written ?? null;
    this.element.hidden = heard === null || heard >= from;
    if (heard === null || this.element.hidden) return;
    this.span = [before(heard, length), heard];
    setText(this.text, `Last heard of ${formatInstant(heard)}, before the span in view.`);
    setText(this.button, `Show the ${formatSpan(length)} until then`);
  }
}
