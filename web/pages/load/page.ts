// The page of the load: who did how many operations when, beside how slow the storage was.
import type { Load, Series, Target } from "../../api/generated.ts";
import { Latest } from "../../api/latest.ts";
import { fetchTargets, fetchWords } from "../../api/client.ts";
import { urlOf } from "../../api/get.ts";
import { fetchLoad, loadParams, recordedSpan } from "../../api/load.ts";
import type { LoadCells, LoadQuery } from "../../api/load.ts";
import type { Op, TargetKey } from "../../api/model.ts";
import { unixMs } from "../../api/time.ts";
import type { Ms } from "../../api/time.ts";
import { columnsFor } from "../../charts/load/frame.ts";
import { zoomed } from "../../charts/load/layout.ts";
import type { TimeSpan } from "../../charts/load/layout.ts";
import type { LoadCursor } from "../../charts/load/overlay.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { Controls } from "../../components/load/controls.ts";
import { legend } from "../../components/load/legend.ts";
import { halfOf, LoadPlot } from "../../components/load/plot.ts";
import { ranking } from "../../components/load/ranking.ts";
import { pointed } from "../../components/load/reading.ts";
import { Totals } from "../../components/load/totals.ts";
import { h, setAttribute, setText } from "../../components/shared/dom.ts";
import { ErrorLine } from "../../components/shared/error_line.ts";
import { saveMenu } from "../../components/shared/save_menu.ts";
import { jobsAddress } from "../shared/jobs_address.ts";
import type { RoomPage } from "../shared/room_page.ts";
import { loadAddress, readLoadAddress, WHOLE } from "./address.ts";
import type { LoadAddress } from "./address.ts";
import { heldIn, JobsBeside, SlowdownBeside } from "./beside.ts";

const MOST_CELLS = 4096;

export class LoadPage implements RoomPage {
  readonly element: HTMLElement;
  private readonly sentence = h("p", { class: "view" });
  private readonly when = h("p", { class: "load-when hint" });
  private readonly error = new ErrorLine();
  private readonly status = h("p", { class: "load-status", role: "status" });
  private readonly reading = h("p", { class: "load-reading", role: "status" });
  private readonly files = h("div", { class: "files" });
  private readonly table = h("div", {});
  private readonly body: HTMLElement;
  private readonly controls: Controls;
  private readonly totals: Totals;
  private readonly plot: LoadPlot;
  private readonly observer = new ResizeObserver(() => (this.plot.resize(), this.totals.draw()));
  private readonly dark = window.matchMedia("(prefers-color-scheme: dark)");
  private readonly themes = new MutationObserver(() => this.plot.recolour());
  private readonly recolour = (): void => this.plot.recolour();
  private readonly zone: () => string | null;
  private address: LoadAddress = WHOLE;
  private shown: { load: Load; cells: LoadCells } | null = null;
  private slowdown: Series | null = null;
  private targets: readonly Target[] = [];
  private words: ReadonlyMap<Op, string> = new Map();
  private asked: string | null = null;
  private readonly asking = new Latest();
  private readonly slowBeside = new SlowdownBeside();
  private readonly jobsBeside = new JobsBeside();
  private fetching = false;

  constructor(zone: () => string | null) {
    this.zone = zone;
    this.controls = new Controls({
      by: (by) => this.go({ ...this.address, by }),
      target: (target) => this.go({ ...this.address, target }),
      own: (own) => this.go({ ...this.address, own }),
      length: (length) => this.length(length),
      zoom: (factor) => this.zoom(factor),
    });
    this.totals = new Totals((band) => this.go({ ...this.address, band }));
    this.plot = new LoadPlot({
      moved: (span) => this.moved(span),
      settled: (span) => this.settled(span),
      cursor: (cursor) => this.point(cursor),
      open: () => {
        const job = this.jobsBeside.largest;
        if (job !== null) location.hash = jobsAddress({ search: "", query: { job, run: "", history: "earlier", whole: false } });
      },
    });
    this.body = h("div", { class: "load-body surface" }, this.totals.element, this.plot.element, this.reading, legend(), this.files, this.table);
    this.element = h(
      "section",
      { class: "load-page", "aria-labelledby": "load-title" },
      h("div", { class: "detail-head" }, h("div", {}, h("h2", { id: "load-title" }, "Load"), this.sentence, this.when)),
      this.controls.element,
      this.error.element,
      this.status,
      this.body,
    );
    this.observer.observe(this.plot.element);
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.dark.addEventListener("change", this.recolour);
    void this.begin();
  }

  private async begin(): Promise<void> {
    const signal = new AbortController().signal;
    try {
      this.targets = await fetchTargets(this.zone(), signal);
      this.words = await fetchWords(signal);
    } catch {
      return; // the slowdown is missing; the load stands for itself
    }
    this.controls.show(this.address.by, this.target, this.address.own, this.targets);
    void this.loadSlowdown();
  }

  private get target(): TargetKey | null {
    return this.address.target ?? this.targets[0] ?? null;
  }

  /** Shows what an address says; asks for nothing that is there already. */
  show(hash: string): void {
    const address = readLoadAddress(hash);
    if (address === null) return;
    const own = address.own !== this.address.own;
    this.address = address;
    document.title = "Load - iosonde";
    this.controls.show(address.by, this.target, address.own, this.targets);
    const wanted = JSON.stringify({ ...address, target: null, own: null });
    if (this.shown !== null) this.plot.span = heldIn(address.span, this.shown.load);
    if (wanted !== this.asked) {
      this.asked = wanted;
      void this.load(address.span);
    } else if (own && this.shown !== null) this.plot.show(this.shown.load, this.shown.cells, address.own);
    void this.loadSlowdown();
  }

  close(): void {
    for (const one of [this.slowBeside, this.jobsBeside]) one.close();
    this.asking.stop();
    this.observer.disconnect();
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.recolour);
    this.plot.destroy();
  }

  private go(address: LoadAddress): void {
    location.hash = loadAddress(address);
  }

  private query(span: TimeSpan | null): LoadQuery {
    const { width, height } = this.plot.element.getBoundingClientRect();
    const cells = Math.min(MOST_CELLS, Math.max(256, Math.round(3 * height * Math.min(2, window.devicePixelRatio || 1))));
    return { by: this.address.by, span, cells, top: columnsFor(width), margin: span === null ? 0 : 1, band: this.address.band };
  }

  private async load(span: TimeSpan | null): Promise<void> {
    const signal = this.asking.next();
    this.error.hide();
    if (this.shown === null) setText(this.status, "Working: reading the operations of all nodes. A year of them takes a minute ...");
    this.fetching = true;
    // A page is shown before it stands in the document: its width says how many columns have room.
    if (!this.element.isConnected) await new Promise((done) => requestAnimationFrame(done));
    try {
      const answer = await fetchLoad(this.query(span), signal);
      if (signal.aborted) return;
      if (answer.load === null) this.nothing(answer.sentence);
      else this.answered(answer.load, answer.cells, span);
    } catch (error) {
      if (signal.aborted) return;
      this.asked = null;
      this.error.show(error);
    }
    this.fetching = false;
    setText(this.status, "");
  }

  private answered(load: Load, cells: LoadCells, span: TimeSpan | null): void {
    const first = this.shown === null;
    this.shown = { load, cells };
    for (const part of [this.body, this.controls.element]) part.hidden = false;
    setText(this.sentence, load.sentence);
    this.totals.show(load, this.address.band);
    if (first) this.plot.span = heldIn(span, load);
    this.plot.show(load, cells, this.address.own);
    this.showWhen(this.plot.span);
    this.table.replaceChildren(ranking(load, halfOf(load)));
    const query = { ...this.query(this.address.span), margin: 0 };
    this.files.replaceChildren(saveMenu("the load", "its cells", (more) => urlOf("api/load", loadParams(query, { ...more, zone: this.zone() }))));
    if (first || span === null) void this.loadSlowdown();
    setAttribute(this.body, "data-loaded", this.address.by);
    setAttribute(this.body, "data-columns", String(load.columns.length));
  }

  private nothing(words: string): void {
    setText(this.sentence, `${words} Import what nodes and your scheduler recorded: iosonde import FILE ...`);
    for (const part of [this.body, this.controls.element]) part.hidden = true;
  }

  private showWhen(span: TimeSpan): void {
    const fine = span.to - span.from < 600_000;
    const day = (t: TimeSpan["from"]): string => formatInstant(t, fine);
    setText(this.when, `${day(span.from)} to ${day(span.to)}${this.shown?.load.hashed === true ? "; names are aliases, by the site's policy" : ""}`);
  }

  private length(length: Ms | null): void {
    const { shown } = this;
    if (shown === null || length === null) return this.go({ ...this.address, span: null });
    const { from, to } = this.plot.span;
    const middle = to >= recordedSpan(shown.load).to ? to - length / 2 : (from + to) / 2;
    this.go({ ...this.address, span: heldIn({ from: unixMs(middle - length / 2), to: unixMs(middle + length / 2) }, shown.load) });
  }

  private zoom(factor: number): void {
    const { shown, plot } = this;
    if (shown !== null) this.go({ ...this.address, span: zoomed(plot.span, unixMs((plot.span.from + plot.span.to) / 2), factor, recordedSpan(shown.load)) });
  }

  /** On the way: more is asked for where what is there ends. */
  private moved(span: TimeSpan): void {
    this.showWhen(span);
    if (this.shown === null || this.fetching) return;
    const { load } = this.shown;
    const end = load.begin + load.cells * load.step;
    const short = (span.from < load.begin && load.begin > load.recorded.begin) || (span.to > end && end < load.recorded.end);
    if (short) void this.load(span);
  }

  /** A pan stays where it is in the reader's history; another length is a step that Back undoes. */
  private settled(span: TimeSpan): void {
    const before = this.address.span ?? (this.shown === null ? span : recordedSpan(this.shown.load));
    const address = loadAddress({ ...this.address, span });
    if (Math.abs((span.to - span.from) / (before.to - before.from) - 1) > 1e-3) {
      location.hash = address;
      return;
    }
    history.replaceState(null, "", address);
    this.show(address);
  }

  private async loadSlowdown(): Promise<void> {
    const { target, shown } = this;
    if (target === null || shown === null) return;
    if (this.slowdown === null) this.plot.showSlowdown(null, true);
    const found = await this.slowBeside.of(target, this.address.span ?? recordedSpan(shown.load));
    if (found === null) return this.slowdown === null ? this.plot.showSlowdown(null) : undefined;
    this.slowdown = found;
    this.plot.showSlowdown(found);
    setAttribute(this.body, "data-slowdown", target.target);
  }

  private point(cursor: LoadCursor | null): void {
    const { shown } = this;
    const at = cursor === null || shown === null ? null : pointed(shown.load, shown.cells, cursor, this.slowdown, this.words);
    setText(this.reading, at?.words ?? "");
    this.jobsBeside.rest(this.address.by, cursor?.column == null ? null : at, (words) => setText(this.reading, words));
  }
}
