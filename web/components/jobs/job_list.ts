// Jobs, newest first, with a field to search in; each is a link to its diagram.
import type { ListedJob, JobList } from "../../api/generated.ts";
import { motifOf } from "../../api/jobs.ts";
import type { UmamiQuery } from "../../api/jobs.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { h, setAttribute, setText } from "../shared/dom.ts";

const WAIT_MS = 250;

export class Jobs {
  readonly element: HTMLElement;
  private readonly input = h("input", { type: "search", placeholder: "id, program, file system", "aria-label": "Search jobs", autocomplete: "off" });
  private readonly count = h("p", { class: "list-count", role: "status" });
  private readonly items = h("ul", { class: "list-items surface" });
  private readonly link: (query: UmamiQuery) => string;
  private timer = 0;

  /** `link`: the address of a job's diagram. `search` is called when the words have not changed for a moment. */
  constructor(link: (query: UmamiQuery) => string, search: (words: string) => void) {
    this.link = link;
    this.element = h("nav", { class: "list jobs", "aria-label": "Jobs" }, this.input, this.count, this.items);
    this.input.addEventListener("input", () => {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => search(this.input.value.trim()), WAIT_MS);
    });
  }

  set words(words: string) {
    if (document.activeElement !== this.input) this.input.value = words;
  }

  show(list: JobList, chosen: UmamiQuery | null): void {
    const shown = list.jobs.length;
    const found = list.total === list.n ? `${list.n} jobs` : `${list.total} of ${list.n} jobs`;
    setText(this.count, shown < list.total ? `${found}, the latest ${shown}` : found);
    this.items.replaceChildren(...list.jobs.map((job) => h("li", {}, this.item(job))));
    this.mark(chosen);
  }

  /** Which of them is looked at. */
  mark(chosen: UmamiQuery | null): void {
    for (const item of this.items.querySelectorAll("a")) {
      const here = chosen !== null && item.dataset["job"] === chosen.job && item.dataset["run"] === chosen.run;
      setAttribute(item, "aria-current", here ? "true" : null);
    }
  }

  private item(job: ListedJob): HTMLElement {
    const start = job.start === null ? "begin not known" : formatInstant(job.start);
    const where = job.file_system === "" ? "" : ` on ${job.file_system}`;
    return h(
      "a",
      { href: this.link({ job: job.job, run: job.run, history: "earlier", whole: false }), "data-job": job.job, "data-run": job.run },
      h("span", { class: "list-name" }, h("b", {}, job.job), h("span", { class: "list-when" }, start)),
      h("span", { class: "list-what" }, `${motifOf(job) || "program not known"}${where}`),
    );
  }
}
