// The page: cards of all targets, and the six panels of the chosen one.
import type { About, OpState, Target } from "../../api/generated.ts";
import { panelUrl } from "../../api/client.ts";
import { OPS, wordsOf } from "../../api/model.ts";
import type { Op } from "../../api/model.ts";
import type { ServerClock } from "../../api/clock.ts";
import { between } from "../../api/time.ts";
import type { PanelModel } from "../../charts/weather/frame.ts";
import { readPalette } from "../../charts/weather/palette.ts";
import type { Palette } from "../../charts/weather/palette.ts";
import { panelModel } from "../../charts/weather/panel_model.ts";
import type { OpenOperation, Span } from "../../charts/weather/grid.ts";
import { Card } from "../../components/weather/card.ts";
import { h, setText } from "../../components/shared/dom.ts";
import { Figures } from "../../components/weather/figures.ts";
import { legend } from "../../components/weather/legend.ts";
import { Notice } from "../../components/weather/notice.ts";
import { NumberTable } from "../../components/weather/number_table.ts";
import { OpPanel } from "../../components/weather/op_panel.ts";
import { RangePicker, WindowPicker } from "../../components/weather/pickers.ts";
import { TargetSearch } from "../../components/weather/target_search.ts";
import { isFleet, Matrix } from "../../components/weather/matrix.ts";
import { eventAddress, NOW } from "../shared/event_address.ts";
import { writeAddress } from "./address.ts";
import type { Session } from "./session.ts";
import { EventsBeside, marksOf } from "./events_beside.ts";
import { SummaryWatch } from "./summary_watch.ts";
import { spanText, stepButton } from "./span.ts";
import { matches } from "./targets.ts";

const SYNC = "iosonde";
/** Beside a grid of hosts and targets. */
const MOST_CARDS = 5;

export class Weather {
  readonly element: HTMLElement;
  private readonly session: Session;
  private readonly clock: ServerClock;
  private readonly about: About | null;
  private readonly cards = new Map<string, Card>();
  private readonly search = new TargetSearch(() => this.showTargets());
  private readonly cardList = h("div", { class: "cards", role: "group", "aria-label": "Targets" });
  private readonly matrix: Matrix;
  private readonly summary: SummaryWatch;
  private readonly events = new EventsBeside((events) => {
    for (const [op, panel] of this.panels) panel.mark(marksOf(events, op));
  });
  private readonly title = h("h2", { id: "chosen" });
  private readonly spoken = h("p", { class: "visually-hidden", "aria-live": "polite", id: "spoken-sentence" });
  /** What the pictures show, in the words of the API: read with each of them. */
  private readonly sentence = h("p", { id: "chosen-sentence", hidden: true });
  private readonly cursorSpoken = h("p", { class: "visually-hidden", "aria-live": "polite" });
  private readonly view = h("p", { class: "view" });
  private readonly link = h("a", { class: "view-link", title: "an address of this span, with its date: for a ticket or a colleague" }, "link to this span");
  private readonly notes = h("ul", { class: "notes", "aria-label": "Notes of the probe" });
  private readonly panelGrid = h("div", { class: "panels" });
  private readonly panels = new Map<Op, OpPanel>();
  private readonly notice: Notice;
  private readonly numbers = new NumberTable(() => this.showSeries());
  private readonly figures = new Figures();
  private readonly ranges: RangePicker;
  private readonly windows: WindowPicker;
  private palette: Palette;
  private verdict = "";

  constructor(session: Session, clock: ServerClock, about: About | null) {
    this.session = session;
    this.clock = clock;
    this.about = about;
    this.palette = readPalette(document.body);
    this.ranges = new RangePicker((range) => session.look((choice) => choice.follow(range.id)));
    this.windows = new WindowPicker((window) => session.look((choice) => (choice.window = window)));
    this.notice = new Notice((from, to) => session.look((choice) => choice.zoomTo(from, to)));
    this.matrix = new Matrix((target) => this.choose(target));
    this.summary = new SummaryWatch(
      () => session.zone,
      () => this.showTargets(),
    );
    this.element = h(
      "div",
      { class: "weather" },
      h("section", { "aria-label": "All targets now" }, this.search.element, this.matrix.element, this.cardList, this.spoken),
      h(
        "section",
        { class: "detail", "aria-labelledby": "chosen" },
        h("div", { class: "detail-head" }, h("div", {}, this.title, this.view, this.link), h("div", { class: "pickers" }, stepButton(session, -1), this.ranges.element, stepButton(session, 1), this.windows.element)),
        this.notice.element,
        this.notes,
        this.panelGrid,
        this.cursorSpoken,
        this.events.list.element,
        this.sentence,
        legend(about),
        this.numbers.element,
        this.figures.element,
      ),
    );
  }

  /** Once the element is in the document: charts ask for their size. */
  mount(): void {
    const model = panelModel({ series: null, live: null, open: null }, this.viewNow());
    for (const op of OPS) {
      const panel = new OpPanel(op, this.words.get(op) ?? op, model, this.palette, SYNC, this.panelGrid, {
        zoom: (from, to) => this.session.look((choice) => choice.zoomTo(from, to)),
        reset: () => this.session.resume(),
        announce: (text) => setText(this.cursorSpoken, text),
        file: (more) => this.panelFile(op, more),
        sentence: "chosen-sentence",
      });
      this.panels.set(op, panel);
    }
    this.showTargets();
    this.showSeries();
  }

  recolour(): void {
    this.palette = readPalette(document.body);
    for (const panel of this.panels.values()) panel.recolour(this.palette);
    this.figures.draw();
    this.showTargets();
  }

  showTargets(): void {
    const targets = this.session.targets;
    const names = new Set(targets.map(nameOf));
    for (const [name, card] of this.cards) {
      if (names.has(name)) continue;
      card.element.remove();
      this.cards.delete(name);
    }
    const fleet = isFleet(targets);
    const shown = new Set(targets.filter((target) => matches(target, this.search.words)));
    this.matrix.element.hidden = !fleet;
    if (fleet) this.matrix.show([...shown], this.session.target, this.palette);
    const inCards = fleet ? ofFleet(targets, this.session.target) : targets;
    for (const [name, card] of this.cards) if (!inCards.some((target) => nameOf(target) === name)) card.element.remove();
    for (const target of inCards) {
      const card = this.cardOf(target);
      card.show(target, target === this.session.target, this.words, this.palette);
      card.element.hidden = !shown.has(target);
    }
    this.inOrder(inCards.map((target) => this.cardOf(target).element));
    this.summary.look();
    this.search.show(this.summary.counts, this.summary.fleet, shown.size, targets.length);
    this.tickCards();
    setText(this.sentence, this.session.target?.sentence ?? "");
    this.speak(this.session.target);
  }

  /** Cards worst first. They are moved only when their order changed, and never while one has the focus. */
  private inOrder(cards: readonly HTMLElement[]): void {
    if (cards.every((card, i) => this.cardList.children[i] === card) || this.cardList.contains(document.activeElement)) return;
    this.cardList.replaceChildren(...cards);
  }

  /** The chosen target's sentence for screen readers: when the verdict changes, not when a digit does. */
  private speak(target: Target | null): void {
    const verdict = target === null ? "" : `${nameOf(target)}\n${target.kind}`;
    if (verdict === this.verdict) return;
    this.verdict = verdict;
    setText(this.spoken, target?.sentence ?? "");
  }

  showSeries(): void {
    const { session } = this;
    const view = this.viewNow();
    const target = session.target;
    setText(this.title, session.key === null ? "" : `${session.key.target} seen from ${session.key.host}`);
    setText(this.view, spanText(view, this.session.choice.paused));
    this.link.href = writeAddress({ ...session.address, span: { from: view.from, to: view.to } });
    const { choice } = session;
    this.ranges.show(choice.zoom === null ? choice.range : null);
    this.windows.show(choice.window, session.window, choice.length);
    this.notes.replaceChildren(...(target?.state.notes ?? []).map((note) => h("li", {}, note)));
    const states = new Map(target?.state.ops.map((op) => [op.op, op]));
    this.notice.show(target, view.from, between(view.from, view.to));
    const models = new Map<Op, PanelModel>();
    for (const [op, panel] of this.panels) {
      const series = session.series?.ops[op] ?? null;
      const live = session.tail.points(op, view.from, series?.points ?? null);
      const state = states.get(op) ?? null;
      const model = panelModel({ series, live, open: openOf(state, target) }, view);
      panel.show(model, state, target, this.words.get(op) ?? op);
      models.set(op, model);
    }
    this.numbers.show(models, this.words);
    this.events.show(session.key, view.from, view.to, session.zone);
    this.figures.show({ key: session.key, from: view.from, to: view.to, zone: session.zone });
    this.panelGrid.dataset["loaded"] = String(session.series !== null);
  }

  tickCards(): void {
    const now = this.clock.now();
    for (const card of this.cards.values()) card.tick(now);
  }

  private get words(): ReadonlyMap<Op, string> {
    return wordsOf(this.about);
  }

  private cardOf(target: Target): Card {
    const name = nameOf(target);
    const known = this.cards.get(name);
    if (known !== undefined) return known;
    const why = eventAddress({ ...NOW, target: target.target });
    const card = new Card(target, () => this.choose(target), why);
    this.cards.set(name, card);
    this.cardList.append(card.element);
    return card;
  }

  private choose(target: Target): void {
    this.session.choose(target);
    this.showTargets();
  }

  private viewNow(): Span {
    const { from, to } = this.session.choice.span;
    const series = this.session.series;
    return { from, to, window: series?.window ?? this.session.window, asOf: series?.as_of ?? to };
  }

  private panelFile(op: Op, more: Readonly<Record<string, string>>): string {
    const { session } = this;
    const { from, to, window } = this.viewNow();
    return session.key === null ? "" : panelUrl({ ...session.key, since: from, until: to, window }, op, session.zone, more);
  }
}

/** Only what hangs now: an operation that is merely under way is not worth a sign. */
const openOf = (state: OpState | null, target: Target | null): OpenOperation | null =>
  state?.state !== "hung" || state.inflight_due === null || target?.severity !== "hung"
    ? null
    : { due: state.inflight_due, age: between(state.inflight_due, target.as_of) };

/** Where a grid shows all targets: cards of the worst that are slow or hang, and of the chosen one. */
function ofFleet(targets: readonly Target[], chosen: Target | null): Target[] {
  const worst = targets.filter((one) => one.severity === "slow" || one.severity === "hung").slice(0, MOST_CARDS);
  return chosen === null || worst.includes(chosen) ? worst : [...worst, chosen];
}

const nameOf = (target: Target): string => `${target.host}\n${target.target}`;
