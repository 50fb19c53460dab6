// The page of the climates: which jobs, what changed and when, files to keep.
import { Latest } from "../../api/latest.ts";
import { climateParams, fetchClimate } from "../../api/climate.ts";
import { urlOf } from "../../api/get.ts";
import type { ClimateAnswer, ClimateQuery } from "../../api/climate.ts";
import { ClimateView } from "../../components/climate/view.ts";
import { h, setAttribute, setText } from "../../components/shared/dom.ts";
import { ErrorLine } from "../../components/shared/error_line.ts";
import { saveMenu } from "../../components/shared/save_menu.ts";
import type { RoomPage } from "../shared/room_page.ts";
import { ALL, climateAddress, readClimateAddress } from "../shared/climate_address.ts";
import type { ClimateAddress } from "../shared/climate_address.ts";
import { jobsAddress } from "../shared/jobs_address.ts";

const WORKING = "Working: looking for lasting changes in the runs of all these jobs. A year of them takes some seconds ...";

export class ClimatePage implements RoomPage {
  readonly element: HTMLElement;
  private readonly fileSystem = h("select", { "aria-label": "File system" });
  private readonly motif = h("select", { "aria-label": "Motif" });
  private readonly since = h("input", { type: "date", "aria-label": "From this day on (UTC)" });
  private readonly until = h("input", { type: "date", "aria-label": "Before this day (UTC)" });
  private readonly pickers: HTMLElement;
  private readonly sentence = h("p", { class: "view", id: "climate-sentence" });
  private readonly status = h("p", { class: "climate-status", role: "status" });
  private readonly error = new ErrorLine();
  private readonly files = h("div", { class: "files" });
  private readonly body = h("div", {});
  private address: ClimateAddress = ALL;
  private known: Pick<ClimateAnswer, "file_systems" | "motifs"> = { file_systems: [], motifs: [] };
  private asked: string | null = null;
  private view: ClimateView | null = null;
  private readonly asking = new Latest();

  constructor() {
    const all = h("a", { class: "quiet", href: climateAddress(ALL) }, "All jobs");
    this.pickers = h("div", { class: "climate-pickers" }, this.fileSystem, this.motif, h("label", {}, "from ", this.since), h("label", {}, "before ", this.until), all);
    for (const picker of [this.fileSystem, this.motif, this.since, this.until]) picker.addEventListener("change", () => this.picked());
    this.element = h(
      "section",
      { class: "climate-page", "aria-labelledby": "climate-title" },
      h("div", { class: "detail-head" }, h("div", {}, h("h2", { id: "climate-title" }, "Climate"), this.sentence), this.pickers),
      this.error.element,
      this.status,
      this.files,
      this.body,
    );
  }

  /** Shows what an address says; asks for nothing that is there already. */
  show(hash: string): void {
    const address = readClimateAddress(hash);
    if (address === null) return;
    this.address = address;
    document.title = "Climate - iosonde";
    const wanted = climateParams(address.query).toString();
    if (wanted === this.asked) return this.unfold();
    this.asked = wanted;
    this.fill();
    void this.load(address.query);
  }

  close(): void {
    this.asking.stop();
    this.view?.destroy();
  }

  private async load(query: ClimateQuery): Promise<void> {
    const signal = this.asking.next();
    this.error.hide();
    setText(this.status, WORKING);
    setAttribute(this.body, "aria-busy", "true");
    setAttribute(this.body, "data-loaded", null);
    try {
      const answer = await fetchClimate(query, signal);
      if (signal.aborted) return;
      this.known = answer;
      this.fill();
      this.answered(answer);
    } catch (error) {
      if (signal.aborted) return;
      this.asked = null;
      this.nothing("");
      this.error.show(error);
    }
    setText(this.status, "");
    setAttribute(this.body, "aria-busy", null);
  }

  private answered(answer: ClimateAnswer): void {
    this.pickers.hidden = answer.climate === null;
    if (answer.climate === null) return this.nothing("There are no jobs yet. Import what your scheduler and monitors recorded: iosonde import FILE ...");
    this.view?.destroy();
    this.view = new ClimateView(answer.climate, {
      link: (run) => jobsAddress({ search: "", query: { ...run, history: "earlier", whole: false } }),
      choose: (on) => {
        location.hash = climateAddress({ ...this.address, on });
      },
    });
    setText(this.sentence, answer.climate.sentence);
    const { query } = this.address;
    this.files.replaceChildren();
    if (answer.climate.places.length > 0) this.files.replaceChildren(saveMenu("the picture", "its changes", (more) => urlOf("api/climate", climateParams(query, more))));
    this.body.replaceChildren(this.view.element);
    setAttribute(this.body, "data-loaded", "true");
    this.unfold();
  }

  private unfold(): void {
    this.view?.open(this.address.on);
  }

  private nothing(words: string): void {
    this.view?.destroy();
    this.view = null;
    setText(this.sentence, words);
    this.files.replaceChildren();
    this.body.replaceChildren();
  }

  /** The choices, and what is chosen: also what an address names and no job has. */
  private fill(): void {
    const { query } = this.address;
    const { file_systems, motifs } = this.known;
    choices(this.fileSystem, "all file systems", file_systems, query.fileSystem);
    choices(this.motif, "all motifs", motifs, query.motif);
    this.since.value = query.since ?? "";
    this.until.value = query.until ?? "";
  }

  private picked(): void {
    const name = (select: HTMLSelectElement): string | null => (select.value === "" ? null : select.value.slice(1));
    const day = (input: HTMLInputElement): string | null => (input.value >= "1970" ? input.value : null);
    const query = { fileSystem: name(this.fileSystem), motif: name(this.motif), since: day(this.since), until: day(this.until) };
    location.hash = climateAddress({ query, on: this.address.on });
  }
}

/** `all` has the value "", a name its own with a sign before it: a file system may have no name. */
function choices(select: HTMLSelectElement, all: string, names: readonly string[], chosen: string | null): void {
  const known = chosen === null || names.includes(chosen) ? names : [...names, chosen];
  select.replaceChildren(h("option", { value: "" }, all), ...known.map((name) => h("option", { value: `=${name}` }, name === "" ? "without a name" : name)));
  select.value = chosen === null ? "" : `=${chosen}`;
}
