// The page of the jobs: a list to search in, and the diagram of the chosen one.
import type { Answers, ListedJob, Umami } from "../../api/generated.ts";
import { Latest } from "../../api/latest.ts";
import { get, paramsOf, urlOf } from "../../api/get.ts";
import { fetchRunsOf, performed, umamiParams } from "../../api/jobs.ts";
import type { UmamiQuery } from "../../api/jobs.ts";
import type { TargetKey } from "../../api/model.ts";
import { h, setAttribute, setText } from "../../components/shared/dom.ts";
import { ErrorLine } from "../../components/shared/error_line.ts";
import { readRamp } from "../../charts/shared/ramp.ts";
import { besideView } from "../../components/jobs/beside.ts";
import { saveMenu } from "../../components/shared/save_menu.ts";
import { Jobs } from "../../components/jobs/job_list.ts";
import { runChoice } from "../../components/jobs/run_choice.ts";
import { Diagram } from "../../components/jobs/umami_diagram.ts";
import type { RoomPage } from "../shared/room_page.ts";
import { ALL, climateAddress } from "../shared/climate_address.ts";
import { eventAddress, NOW } from "../shared/event_address.ts";
import { loadPlace, targetPlace } from "../shared/places.ts";
import { jobsAddress, readJobsAddress } from "../shared/jobs_address.ts";
import type { JobsAddress } from "../shared/jobs_address.ts";

type JobAnswer = Answers["api/job"];

export class JobsPage implements RoomPage {
  readonly element: HTMLElement;
  private readonly list: Jobs;
  private readonly title = h("h2", { id: "job-title" }, "Jobs");
  private readonly subtitle = h("p", { class: "view" });
  private readonly history = h("div", { class: "segments jobs-history" });
  private readonly error = new ErrorLine();
  private readonly files = h("div", {});
  private readonly body = h("div", {});
  private readonly beside = h("div", {});
  private diagram: Diagram | null = null;
  private address: JobsAddress = { search: "", query: null };
  private listed: string | null = null;
  private drawn = "";
  private readonly listing = new Latest();
  private readonly asking = new Latest();

  private readonly zone: () => string | null;

  /** `zone`: of the times in pictures. */
  constructor(zone: () => string | null) {
    this.zone = zone;
    this.list = new Jobs(
      (query) => jobsAddress({ search: this.address.search, query }),
      (search) => {
        location.hash = jobsAddress({ ...this.address, search });
      },
    );
    this.element = h(
      "div",
      { class: "list-page jobs-page" },
      this.list.element,
      h("section", { class: "list-chosen job", "aria-labelledby": "job-title", "aria-live": "off" }, h("div", { class: "detail-head" }, h("div", {}, this.title, this.subtitle), this.history), this.error.element, this.files, this.body, this.beside),
    );
  }

  /** Shows what an address says; asks for nothing that is there already. */
  show(hash: string): void {
    const address = readJobsAddress(hash);
    if (address === null) return;
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
    this.listing.stop();
    this.asking.stop();
    this.diagram?.destroy();
  }

  private async loadList(search: string): Promise<void> {
    this.listed = search;
    const signal = this.listing.next();
    try {
      const list = await get("api/jobs", paramsOf({ search: search || null }), signal);
      if (signal.aborted) return;
      this.list.show(list, this.address.query);
      if (list.n === 0) this.nothing("There are no jobs yet", "Import what your scheduler and monitors recorded: iosonde import FILE ...");
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  private async loadDiagram(query: UmamiQuery): Promise<void> {
    const signal = this.asking.next();
    setAttribute(this.body, "data-job", null);
    try {
      const runs = await fetchRunsOf(query.job, signal);
      if (signal.aborted || this.offerRuns(query, runs)) return;
      // What it met takes longer than its diagram, and is worth it without one.
      const beside = get("api/job", paramsOf({ job: query.job, run: query.run || null, zone: this.zone() }), signal);
      if (runs.length > 0 && runs.every((run) => !performed(run))) {
        const found = await beside.catch(() => null);
        if (signal.aborted || this.withoutDiagram(query, found)) return;
      }
      const [answer, why] = await get("api/umami", umamiParams(query), signal).then((found) => [found, null] as const, (error: unknown) => [null, error] as const);
      if (signal.aborted) return;
      if (answer === null) {
        const found = await beside.catch(() => null);
        if (!signal.aborted && !this.withoutDiagram(query, found)) this.fail(why);
        return;
      }
      void this.showBeside(query, beside, signal);
      this.error.hide();
      this.diagram?.destroy();
      this.diagram = new Diagram(answer);
      const { figure } = answer;
      setText(this.title, figure.title);
      setText(this.subtitle, figure.subtitle);
      document.title = `${figure.title} - iosonde`;
      this.showHistory(query);
      this.files.replaceChildren(this.filesOf(answer, query));
      this.body.replaceChildren(this.diagram.element);
      setAttribute(this.body, "data-job", query.job);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  /** A job that only a scheduler recorded; false: it is none. */
  private withoutDiagram(query: UmamiQuery, found: JobAnswer | null): boolean {
    if (found === null || !found.known || !found.scheduled) return false;
    this.error.hide();
    this.nothing(`Job ${query.job}`, "Known from the scheduler alone, so there is no diagram of its I/O.");
    document.title = `${found.sentence} - iosonde`;
    this.drawBeside(query, found);
    setAttribute(this.body, "data-job", query.job);
    return true;
  }

  private async showBeside(query: UmamiQuery, asked: Promise<JobAnswer>, signal: AbortSignal): Promise<void> {
    this.beside.replaceChildren(h("p", { class: "view" }, "Working: what probes saw while it ran ..."));
    const found = await asked.catch(() => null);
    if (!signal.aborted) this.drawBeside(query, found);
  }

  private drawBeside(query: UmamiQuery, found: JobAnswer | null): void {
    setAttribute(this.beside, "data-beside", query.job);
    if (found === null) return this.beside.replaceChildren();
    if (!found.known) return this.beside.replaceChildren(h("p", { class: "view" }, found.sentence));
    const { begin, end } = found;
    const span = begin === null || end === null ? null : { from: begin, to: end };
    const links = {
      target: (key: TargetKey): string => targetPlace(key, span),
      load: (): string => (span === null ? "" : loadPlace(span, null)),
      event: (event: string): string => eventAddress({ ...NOW, event }),
    };
    this.beside.replaceChildren(besideView(found, readRamp(document.body), links));
  }

  /** A job of several runs has a diagram for each: which one? False: it has one, or none. */
  private offerRuns(query: UmamiQuery, runs: readonly ListedJob[]): boolean {
    if (query.run !== "" || runs.length < 2) return false;
    this.nothing(`Job ${query.job}`, `It has ${runs.length} runs, each with a diagram of its own: choose one.`);
    this.body.replaceChildren(runChoice(runs, (run) => jobsAddress({ ...this.address, query: { ...query, run } })));
    document.title = `Job ${query.job} - iosonde`;
    return true;
  }

  private filesOf({ file_system, motif }: Umami, query: UmamiQuery): HTMLElement {
    const line = h("div", { class: "files" }, saveMenu("the diagram", "its records", (more) => urlOf("api/umami", umamiParams(query, { ...more, zone: this.zone() }))));
    const kind = climateAddress({ ...ALL, query: { ...ALL.query, fileSystem: file_system, motif } });
    if (motif !== "") line.append(h("a", { href: kind }, "The climate of such jobs"));
    return line;
  }

  private showHistory(query: UmamiQuery): void {
    const choice = (history: "earlier" | "all", words: string): HTMLElement => {
      const link = h("a", { class: "quiet", href: jobsAddress({ ...this.address, query: { ...query, history } }) }, words);
      setAttribute(link, "aria-current", query.history === history ? "true" : null);
      return link;
    };
    const whole = h("a", { class: "quiet", href: jobsAddress({ ...this.address, query: { ...query, whole: !query.whole } }), title: "every run and row that is known, or those a screen has room for" }, "draw everything");
    setAttribute(whole, "aria-current", query.whole ? "true" : null);
    this.history.replaceChildren(choice("earlier", "earlier runs"), choice("all", "all other runs"), whole);
  }

  private nothing(title: string, words: string): void {
    this.asking.stop();
    this.diagram?.destroy();
    this.diagram = null;
    this.error.hide();
    setText(this.title, title);
    setText(this.subtitle, words);
    this.history.replaceChildren();
    this.files.replaceChildren();
    this.body.replaceChildren();
    this.beside.replaceChildren();
    setAttribute(this.body, "data-job", null);
    document.title = "Jobs - iosonde";
  }

  private fail(error: unknown): void {
    this.nothing("Jobs", "");
    this.drawn = "";
    this.error.show(error);
  }
}
