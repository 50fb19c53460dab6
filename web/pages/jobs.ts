// The page of the jobs: a list to search in, and the diagram of the chosen one.
import { fetchJobs, fetchUmami } from "../api/jobs.ts";
import type { UmamiQuery } from "../api/jobs.ts";
import { h, setAttribute, setText } from "../components/dom.ts";
import { Jobs } from "../components/job_list.ts";
import { Diagram } from "../components/umami_diagram.ts";
import { jobsAddress, readJobsAddress } from "./jobs_address.ts";
import type { JobsAddress } from "./jobs_address.ts";

export class JobsPage {
  readonly element: HTMLElement;
  private readonly list: Jobs;
  private readonly title = h("h2", { id: "job-title" }, "Jobs");
  private readonly subtitle = h("p", { class: "view" });
  private readonly history = h("div", { class: "segments jobs-history" });
  private readonly error = h("p", { class: "error", role: "alert", hidden: true });
  private readonly body = h("div", {});
  private diagram: Diagram | null = null;
  private address: JobsAddress = { search: "", query: null };
  private listed: string | null = null;
  private drawn = "";
  private listing = new AbortController();
  private asking = new AbortController();

  constructor() {
    this.list = new Jobs(
      (query) => jobsAddress({ search: this.address.search, query }),
      (search) => {
        location.hash = jobsAddress({ ...this.address, search });
      },
    );
    this.element = h(
      "div",
      { class: "jobs-page" },
      this.list.element,
      h("section", { class: "job", "aria-labelledby": "job-title", "aria-live": "off" }, h("div", { class: "detail-head" }, h("div", {}, this.title, this.subtitle), this.history), this.error, this.body),
    );
  }

  /** Shows what an address says; asks for nothing that is there already. */
  show(address: JobsAddress): void {
    this.address = address;
    this.list.words = address.search;
    if (this.listed !== address.search) void this.loadList(address.search);
    else this.list.mark(address.query);
    const wanted = address.query === null ? "" : JSON.stringify(address.query);
    if (wanted === this.drawn && wanted !== "") return;
    this.drawn = wanted;
    if (address.query === null) this.nothing("Jobs", "Choose a job: its metrics are then shown within the history of its kind.");
    else void this.loadDiagram(address.query);
  }

  close(): void {
    this.listing.abort();
    this.asking.abort();
    this.diagram?.destroy();
  }

  private async loadList(search: string): Promise<void> {
    this.listed = search;
    this.listing.abort();
    const signal = (this.listing = new AbortController()).signal;
    try {
      const list = await fetchJobs(search, signal);
      if (signal.aborted) return;
      this.list.show(list, this.address.query);
      if (list.n === 0) this.nothing("There are no jobs yet", "Import what your scheduler and monitors recorded: iosonde import FILE ...");
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  private async loadDiagram(query: UmamiQuery): Promise<void> {
    this.asking.abort();
    const signal = (this.asking = new AbortController()).signal;
    setAttribute(this.body, "data-job", null);
    try {
      const figure = await fetchUmami(query, signal);
      if (signal.aborted) return;
      this.error.hidden = true;
      this.diagram?.destroy();
      this.diagram = new Diagram(figure);
      setText(this.title, figure.title);
      setText(this.subtitle, figure.subtitle);
      document.title = `${figure.title} - iosonde`;
      this.showHistory(query);
      this.body.replaceChildren(this.diagram.element);
      setAttribute(this.body, "data-job", query.job);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  private showHistory(query: UmamiQuery): void {
    const choice = (history: "earlier" | "all", words: string): HTMLElement => {
      const link = h("a", { class: "quiet", href: jobsAddress({ ...this.address, query: { ...query, history } }) }, words);
      setAttribute(link, "aria-current", query.history === history ? "true" : null);
      return link;
    };
    this.history.replaceChildren(choice("earlier", "earlier runs"), choice("all", "all other runs"));
  }

  private nothing(title: string, words: string): void {
    this.asking.abort();
    this.diagram?.destroy();
    this.diagram = null;
    this.error.hidden = true;
    setText(this.title, title);
    setText(this.subtitle, words);
    this.history.replaceChildren();
    this.body.replaceChildren();
    setAttribute(this.body, "data-job", null);
    document.title = "Jobs - iosonde";
  }

  private fail(error: unknown): void {
    this.nothing("Jobs", "");
    this.drawn = "";
    this.error.hidden = false;
    setText(this.error, error instanceof Error ? error.message : String(error));
  }
}

/** Two links that change between the weather and the jobs; the current one is marked. */
export class PageLinks {
  readonly element = h("nav", { class: "pages", "aria-label": "Pages" });
  private readonly weather = h("a", { href: "#" }, "Weather");
  private readonly jobs = h("a", { href: jobsAddress({ search: "", query: null }) }, "Jobs");

  constructor() {
    this.element.append(this.weather, this.jobs);
  }

  /** `back`: the address of the weather as it was left. */
  show(back: string | null): void {
    const onJobs = readJobsAddress(location.hash) !== null;
    if (back !== null) this.weather.href = back;
    setAttribute(this.jobs, "aria-current", onJobs ? "page" : null);
    setAttribute(this.weather, "aria-current", onJobs ? null : "page");
  }
}
