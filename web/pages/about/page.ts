// The page about this server: versions, what watching costs the storage, the words that all pages use.
import type { About, Section } from "../../api/generated.ts";
import { get, paramsOf } from "../../api/get.ts";
import { costTable, glossaryList } from "../../components/about/sections.ts";
import { h, setAttribute } from "../../components/shared/dom.ts";
import { ErrorLine } from "../../components/shared/error_line.ts";
import type { RoomPage } from "../shared/room_page.ts";

const MOST_PROBES = 1000;

export const ABOUT = "#page=about";
export const isAbout = (hash: string): boolean => new URLSearchParams(hash.replace(/^#/, "")).get("page") === "about";

export class AboutPage implements RoomPage {
  readonly element: HTMLElement;
  private readonly error = new ErrorLine();
  private readonly costs = h("div", {});
  private readonly words = h("div", {});
  private readonly search = h("input", { type: "search", placeholder: "a word of the glossary", "aria-label": "Search the glossary", autocomplete: "off" });
  private readonly asking = new AbortController();
  private sections: readonly Section[] = [];
  private asked = false;

  constructor(about: About | null) {
    const facts: (readonly [string, string])[] = about === null ? [] : [["Version", about.version], ["Store", about.store], ["Slow from", `${about.slow_at} times as slow as usual, its interval above ${about.slow_lower_at}`]];
    this.search.addEventListener("input", () => this.draw());
    this.element = h(
      "article",
      { class: "about-page", "aria-labelledby": "about-title" },
      h("h2", { id: "about-title" }, "About this server"),
      this.error.element,
      h("dl", { class: "about-facts" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      h("section", { class: "surface", "aria-labelledby": "about-cost" }, h("h3", { id: "about-cost" }, "What watching costs the storage"), this.costs),
      h("section", { class: "surface", "aria-labelledby": "about-more" }, h("h3", { id: "about-more" }, "More"), links()),
      h("section", { class: "surface", "aria-labelledby": "about-words" }, h("div", { class: "about-words-head" }, h("h3", { id: "about-words" }, "Glossary"), this.search), this.words),
    );
  }

  show(): void {
    document.title = "About - iosonde";
    if (this.asked) return;
    this.asked = true;
    void this.load();
  }

  close(): void {
    this.asking.abort();
  }

  private async load(): Promise<void> {
    const { signal } = this.asking;
    try {
      const [costs, { sections }] = await Promise.all([get("api/about/cost", paramsOf({ limit: MOST_PROBES }), signal), get("api/about/glossary", paramsOf({}), signal)]);
      this.costs.replaceChildren(costTable(costs));
      this.sections = sections;
      this.draw();
      setAttribute(this.element, "data-loaded", String(costs.probes.length));
    } catch (error) {
      if (signal.aborted) return;
      this.error.show(error);
    }
  }

  private draw(): void {
    this.words.replaceChildren(glossaryList(this.sections, this.search.value.trim()));
  }
}

function links(): HTMLElement {
  const item = (href: string, name: string, words: string): HTMLElement => h("li", {}, h("a", { href }, name), ` ${words}`);
  return h(
    "ul",
    { class: "about-links" },
    item("api/openapi.json", "The API", "- every route, its parameters and units, in OpenAPI"),
    item("api/status", "The status", "- all targets in short, for portals and scripts"),
    item("badge.svg", "A badge", "- the worst target as a picture, for other pages"),
    h("li", {}, "In a terminal: ", h("code", {}, "man iosonde"), ", ", h("code", {}, "iosonde --help"), ", ", h("code", {}, "iosonde doctor"), "; the folder ", h("code", {}, "docs/"), " of the source explains each page and method"),
  );
}
