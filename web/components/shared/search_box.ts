// One field that finds things of several kinds: a list of links below it, reached by the arrow keys or a click.
import { Latest } from "../../api/latest.ts";
import { errorText } from "./error_line.ts";
import { h, setText } from "./dom.ts";

export interface Hit {
  /** Target, job ... */
  readonly kind: string;
  readonly name: string;
  readonly detail: string;
  readonly href: string;
}

export interface Hits {
  readonly hits: readonly Hit[];
  /** What to say below them: how many more, or that nothing matches. */
  readonly note: string;
}

const WAIT_MS = 200;

export class SearchBox {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly list = h("div", { class: "search-hits", hidden: true, id: "search-hits" });
  private readonly find: (words: string, signal: AbortSignal) => Promise<Hits>;
  private readonly asking = new Latest();
  private timer = 0;

  /** `words`: what the field is for; `find`: what is called when the words have not changed for a moment. */
  constructor(words: string, find: (words: string, signal: AbortSignal) => Promise<Hits>) {
    this.find = find;
    this.input = h("input", { type: "search", placeholder: words, "aria-label": words, autocomplete: "off", "aria-controls": "search-hits" });
    this.element = h("div", { class: "search", role: "search" }, this.input, this.list);
    this.input.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.search(), WAIT_MS);
    });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.hide();
    });
    this.input.addEventListener("focus", () => {
      if (this.input.value.trim() !== "") void this.search();
    });
  }

  private hide(): void {
    this.asking.stop();
    this.list.hidden = true;
  }

  private async search(): Promise<void> {
    const words = this.input.value.trim();
    if (words === "") return this.hide();
    const signal = this.asking.next();
    const found = await this.find(words, signal).catch((error: unknown) => ({ hits: [], note: errorText(error) }));
    if (signal.aborted) return;
    const note = h("p", { class: "search-note", role: "status" });
    setText(note, found.note);
    note.hidden = found.note === "";
    this.list.replaceChildren(h("ul", {}, ...found.hits.map((hit) => h("li", {}, this.item(hit)))), note);
    this.list.hidden = false;
  }

  private item(hit: Hit): HTMLElement {
    const link = h("a", { href: hit.href }, h("span", { class: "search-kind" }, hit.kind), h("b", {}, hit.name), h("span", { class: "search-detail" }, hit.detail));
    link.addEventListener("click", () => {
      this.input.value = "";
      this.hide();
    });
    return link;
  }

  /** Arrows go through the links, Enter in the field takes the first, Escape closes. */
  private key(event: KeyboardEvent): void {
    const links = [...this.list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === "Escape") {
      this.input.focus();
      this.hide();
    } else if (event.key === "Enter" && document.activeElement === this.input) links[0]?.click();
    else if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (at <= 0 ? this.input : links[at - 1])?.focus();
    else return;
    event.preventDefault();
  }
}
