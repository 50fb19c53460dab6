// Whether the page is live, said in words, shape and colour, with the button that pauses it.
import type { FeedState } from "../../api/feed.ts";
import { h, setAttribute, setText } from "../shared/dom.ts";

export type Liveness = FeedState | "paused";

const WORDS: Record<Liveness, string> = {
  connecting: "connecting",
  live: "live",
  paused: "paused",
  lost: "disconnected, retrying",
};

export class LiveState {
  readonly element: HTMLElement;
  private readonly word = h("span", {});
  private readonly button = h("button", { type: "button", class: "quiet" });

  constructor(toggle: () => void) {
    const light = h("span", { class: "light", "aria-hidden": "true" });
    this.element = h("div", { class: "live" }, h("span", { class: "live-word", role: "status" }, light, this.word), this.button);
    this.button.addEventListener("click", toggle);
  }

  show(state: Liveness): void {
    this.element.dataset["live"] = state;
    setText(this.word, WORDS[state]);
    setText(this.button, state === "paused" ? "Resume" : "Pause");
    setAttribute(this.button, "aria-pressed", String(state === "paused"));
  }
}
