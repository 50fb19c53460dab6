// The page of benchmark runs: a list, one of them, or two beside the verdict.
import type { Runs } from "../../api/generated.ts";
import { Latest } from "../../api/latest.ts";
import { get, paramsOf, urlOf } from "../../api/get.ts";
import { RunItems } from "../../components/runs/run_list.ts";
import { pairView, runView } from "../../components/runs/run_view.ts";
import type { PictureLink } from "../../components/runs/run_view.ts";
import { h, setAttribute, setText } from "../../components/shared/dom.ts";
import { ErrorLine } from "../../components/shared/error_line.ts";
import { isDark } from "../../components/shared/theme.ts";
import type { RoomPage } from "../shared/room_page.ts";
import { NO_RUN, readRunsAddress, runsAddress } from "./address.ts";
import type { RunsAddress } from "./address.ts";

const MOST_RUNS = 500;

export class RunsPage implements RoomPage {
  readonly element: HTMLElement;
  private readonly items: RunItems;
  private readonly title = h("h2", { id: "run-title" }, "Runs");
  private readonly subtitle = h("p", { class: "view" });
  private readonly against = h("select", { "aria-label": "Compare with" });
  private readonly picker = h("label", { class: "runs-against", hidden: true }, "Compare with ", this.against);
  private readonly error = new ErrorLine();
  private readonly body = h("div", {});
  private readonly zone: () => string | null;
  private address: RunsAddress = NO_RUN;
  private list: Runs | null = null;
  private listed: string | null = null;
  private drawn: string | null = null;
  private readonly listing = new Latest();
  private readonly asking = new Latest();
  private readonly themes = new MutationObserver(() => this.redraw());

  constructor(zone: () => string | null) {
    this.zone = zone;
    this.items = new RunItems({
      link: (run) => runsAddress({ ...this.address, run, against: null }),
      filter: (kind, target) => this.go({ ...this.address, kind, target }),
    });
    this.against.addEventListener("change", () => this.go({ ...this.address, against: this.against.value === "" ? null : this.against.value }));
    const head = h("div", { class: "detail-head" }, h("div", {}, this.title, this.subtitle), this.picker);
    this.element = h("div", { class: "list-page runs-page" }, this.items.element, h("section", { class: "list-chosen job", "aria-labelledby": "run-title" }, head, this.error.element, this.body));
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  private go(address: RunsAddress): void {
    location.hash = runsAddress(address);
  }

  /** Shows what an address says; asks for nothing that is there already. */
  show(hash: string): void {
    const address = readRunsAddress(hash);
    if (address === null) return;
    this.address = address;
    document.title = "Runs - iosonde";
    const wanted = JSON.stringify([address.kind, address.target]);
    if (wanted !== this.listed) {
      this.listed = wanted;
      void this.loadList();
    } else this.mark();
    const drawn = JSON.stringify([address.run, address.against]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    void this.load();
  }

  close(): void {
    this.listing.stop();
    this.asking.stop();
    this.themes.disconnect();
  }

  private redraw(): void {
    if (this.address.run !== null) void this.load();
  }

  private mark(): void {
    const { kind, target, run, against } = this.address;
    if (this.list === null) return;
    this.items.show(this.list, kind, target, [run, against]);
    const one = this.list.runs.find((each) => each.run === run);
    const others = this.list.runs.filter((each) => each.run !== run && (one === undefined || each.kind === one.kind));
    this.picker.hidden = run === null || others.length === 0;
    this.against.replaceChildren(h("option", { value: "" }, "no other run"), ...others.map((each) => h("option", { value: each.run }, `${each.run} (${each.target})`)));
    this.against.value = against ?? "";
  }

  private async loadList(): Promise<void> {
    const signal = this.listing.next();
    try {
      const { kind, target } = this.address;
      this.list = await get("api/runs", paramsOf({ limit: MOST_RUNS, kind, target }), signal);
      if (signal.aborted) return;
      this.mark();
      if (this.list.n === 0) this.nothing("There are no runs yet", "Measure: iosonde bench metadata DIR. Or import another tool's: iosonde import FILE ...");
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  private async load(): Promise<void> {
    const signal = this.asking.next();
    const { run, against } = this.address;
    this.error.hide();
    setAttribute(this.body, "data-run", null);
    if (run === null) return this.nothing("Runs", "Choose a run: its rates, pictures and cautions are then shown.");
    if (!this.element.isConnected) await new Promise((done) => requestAnimationFrame(done));
    try {
      const zone = this.zone();
      const found = await get("api/runs/run", paramsOf({ run, zone }), signal);
      const other = against === null ? null : await get("api/runs/run", paramsOf({ run: against, zone }), signal);
      const pair = against === null ? null : await get("api/runs/compare", paramsOf({ a: against, b: run }), signal);
      if (signal.aborted) return;
      setText(this.title, pair === null ? found.title : "B as seen from A");
      setText(this.subtitle, pair === null ? found.subtitle : `A: ${against ?? ""}, B: ${run}`);
      const link = (of: string): PictureLink => (picture, more) => urlOf("api/runs/run", paramsOf({ run: of, picture, ...more, zone }));
      const looks = { width: this.body.clientWidth - 30, dark: isDark() };
      if (pair === null || other === null || against === null) this.body.replaceChildren(runView(found, link(run), looks));
      else this.body.replaceChildren(pairView(pair, [["A", other, link(against)], ["B", found, link(run)]], looks));
      setAttribute(this.body, "data-run", run);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.error.show(error);
    this.body.replaceChildren();
  }

  private nothing(title: string, words: string): void {
    setText(this.title, title);
    setText(this.subtitle, words);
    this.body.replaceChildren();
  }
}
