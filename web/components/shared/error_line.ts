// What went wrong, in a line that screen readers speak; hidden while all is well.
import { h, setText } from "./dom.ts";

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class ErrorLine {
  readonly element = h("p", { class: "error", role: "alert", hidden: true });

  show(error: unknown): void {
    this.element.hidden = false;
    setText(this.element, errorText(error));
  }

  hide(): void {
    this.element.hidden = true;
  }
}
