// The page of an event: why it is slow in one sentence, the evidence, the operations of that time, links to what matters.
import type { Series, Slowness, Target, Why } from "../../api/generated.ts";
import { Latest } from "../../api/latest.ts";
import { panelUrl, seriesParams } from "../../api/client.ts";
import { after, before, between, minutes, ms, unixMs } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { get } from "../../api/get.ts";
import { jobsOf, stretchOf, whyParams } from "../../api/why.ts";
import type { WhyQuery } from "../../api/why.ts";
import { formatInstant } from "../../charts/shared/format.ts";
import { readPalette } from "../../charts/weather/palette.ts";
import { panelModel } from "../../charts/weather/panel_model.ts";
import { h, setAttribute, setText } from "../../components/shared/dom.ts";
import { ErrorLine } from "../../components/shared/error_line.ts";
import { evidence } from "../../components/weather/evidence.ts";
import { OpPanel } from "../../components/weather/op_panel.ts";
import { suitedWindow } from "../../components/weather/pickers.ts";
import { eventAddress, NOW, readEventAddress } from "../shared/event_address.ts";
import { jobPlace, loadPlace, targetPlace } from "../shared/places.ts";
import type { Stretch } from "../shared/places.ts";
import type { RoomPage } from "../shared/room_page.ts";

/** Before and after the stretch at least so much is shown, and half its length. */
const AROUND = minutes(5);
const WORKING = "Working: comparing what probes, hosts, jobs and servers recorded ...";

export interface Known {
  readonly zone: () => string | null;
  readonly targets: () => readonly Target[];
  /** The plural noun of an operation. */
  readonly word: (op: string) => string;
}

export class EventPage implements RoomPage {
  readonly element: HTMLElement;
  private readonly title = h("h2", { id: "event-title", class: "event-sentence" });
  private readonly subtitle = h("p", { class: "view" });
  private readonly error = new ErrorLine();
  private readonly body = h("div", { class: "event-body" });
  private readonly known: Known;
  private asked = "";
  private readonly asking = new Latest();
  private panel: OpPanel | null = null;
  private readonly themes = new MutationObserver(() => this.recolour());
  private readonly dark = window.matchMedia("(prefers-color-scheme: dark)");
  private readonly recolour = (): void => this.panel?.recolour(readPalette(document.body));

  constructor(known: Known) {
    this.known = known;
    this.element = h("article", { class: "event-page", "aria-labelledby": "event-title" }, this.title, this.subtitle, this.error.element, this.body);
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.dark.addEventListener("change", this.recolour);
  }

  show(hash: string): void {
    const query = readEventAddress(hash);
    if (query === null) return;
    const wanted = JSON.stringify(query);
    if (wanted === this.asked) return;
    this.asked = wanted;
    void this.load(query);
  }

  close(): void {
    this.asking.stop();
    this.panel?.destroy();
    this.themes.disconnect();
    this.dark.removeEventListener("change", this.recolour);
  }

  private async load(query: WhyQuery): Promise<void> {
    const signal = this.asking.next();
    this.error.hide();
    setText(this.title, "Why is it slow?");
    setText(this.subtitle, WORKING);
    setAttribute(this.body, "data-verdict", null);
    this.panel?.destroy();
    this.panel = null;
    this.body.replaceChildren();
    document.title = "Why - iosonde";
    try {
      const answer = await get("api/why", whyParams(query, this.known.zone()), signal);
      if (signal.aborted) return;
      this.answered(answer, query);
      const stretch = stretchOf(answer);
      if (stretch !== null) await this.draw(stretch, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.asked = "";
      setText(this.subtitle, "");
      this.error.show(error);
    }
  }

  private answered(answer: Why, query: WhyQuery): void {
    const stretch = stretchOf(answer);
    setText(this.title, answer.sentence);
    document.title = `${answer.sentence} - iosonde`;
    const found = stretch === null ? [] : this.links(answer, stretch, query);
    setText(this.subtitle, stretch === null ? "" : `${stretch.target} seen from ${stretch.host}, ${when(stretch)}`);
    const lines = h("section", { class: "event-evidence surface", "aria-label": "Evidence" }, evidence(answer.lines));
    const nothing = stretch === null ? h("p", { class: "hint" }, "Events of the past stand below each target's plots: choose one there.") : null;
    this.body.replaceChildren(lines, ...(nothing === null ? [] : [nothing]), h("div", { class: "event-chart" }), h("nav", { class: "event-links", "aria-label": "Places of this event" }, ...found));
    setAttribute(this.body, "data-verdict", answer.verdict);
  }

  private links(answer: Why, stretch: Slowness, query: WhyQuery): HTMLElement[] {
    const { from, to } = around(stretch);
    const exact = { from: stretch.begin, to: stretch.end ?? stretch.seen_until };
    const item = (href: string, words: string, more: Readonly<Record<string, string>> = {}): HTMLElement => h("a", { class: "quiet", href, ...more }, words);
    const self = { ...NOW, event: answer.event, target: answer.event === null ? stretch.target : null, at: answer.event === null ? middle(exact) : null };
    return [
      ...jobsOf(answer).map((job) => item(jobPlace(job), `Job ${job}`, { "data-place": "job" })),
      item(targetPlace(stretch, { from, to }), `All operations of ${stretch.target} then`, { "data-place": "target" }),
      item(loadPlace(exact, stretch), "Load of that time", { "data-place": "load" }),
      ...answer.others.map((name) => item(targetPlace({ host: this.hostOf(name, stretch.host), target: this.partOf(name) }, { from, to }), `${name} was slow, too`, { "data-place": "other" })),
      item(eventAddress(self), "Link to this answer", { "data-place": "self" }),
      ...(query.model ? [] : [item(eventAddress({ ...query, model: true }), "Ask the queue model (seconds)", { "data-place": "model" })]),
    ];
  }

  /** A whole target of several servers has no series of its own: the first of them stands for it. */
  private partOf(name: string): string {
    const targets = this.known.targets();
    return targets.some((one) => one.target === name) ? name : (targets.find((one) => one.target.startsWith(`${name}/`))?.target ?? name);
  }

  private hostOf(name: string, host: string): string {
    const part = this.partOf(name);
    const seen = this.known.targets().filter((one) => one.target === part);
    return seen.some((one) => one.host === host) ? host : (seen[0]?.host ?? host);
  }

  private async draw(stretch: Slowness, signal: AbortSignal): Promise<void> {
    const { from, to } = around(stretch);
    const window = suitedWindow(between(from, to));
    const series = await get("api/series", seriesParams({ host: stretch.host, target: stretch.target, since: before(from, window), until: to, window, points: true }), signal);
    const place = this.body.querySelector<HTMLElement>(".event-chart");
    if (signal.aborted || place === null) return;
    this.drawn(series, stretch, { from, to }, window, place);
  }

  private drawn(series: Series, stretch: Slowness, { from, to }: Stretch, window: Ms, place: HTMLElement): void {
    const { op } = stretch;
    const model = panelModel({ series: series.ops[op] ?? null, live: null, open: null }, { from, to, window, asOf: series.as_of });
    const go = (a: UnixMs, b: UnixMs): void => {
      location.hash = targetPlace(stretch, { from: a, to: b });
    };
    const spoken = h("p", { class: "visually-hidden", "aria-live": "polite" });
    place.append(spoken);
    const word = this.known.word(op);
    const key = { host: stretch.host, target: stretch.target };
    this.panel = new OpPanel(op, word, model, readPalette(document.body), `event-${op}`, place, {
      zoom: go,
      reset: () => undefined,
      announce: (text) => setText(spoken, text),
      file: (more) => panelUrl({ ...key, since: from, until: to, window }, op, this.known.zone(), more),
      sentence: "event-title",
    });
    this.panel.show(model, null, null, word);
    this.panel.mark([{ key: "stretch", begin: stretch.begin, end: stretch.end, label: "this event", sentence: this.title.textContent ?? "", href: null }]);
    place.append(h("p", { class: "view" }, "Between the lines: the stretch that the sentence is about. Drag over a part to see all operations of it."));
    setAttribute(place, "data-loaded", op);
  }
}

function around(stretch: Slowness): Stretch {
  const end = stretch.end ?? stretch.seen_until;
  const more = ms(Math.max(AROUND, between(stretch.begin, end) / 2));
  return { from: before(stretch.begin, more), to: stretch.end === null ? end : after(end, more) };
}

const middle = ({ from, to }: Stretch): UnixMs => unixMs((from + to) / 2);

function when(stretch: Slowness): string {
  const begin = formatInstant(stretch.begin, true);
  return stretch.end === null ? `since ${begin}` : `${begin} to ${formatInstant(stretch.end, true)}`;
}
