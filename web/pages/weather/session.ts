// What the page knows and how it keeps knowing it: which target, which span, the series, the live feed.
// Draws nothing; says what changed.
import { errorText } from "../../components/shared/error_line.ts";
import type { Series, Target } from "../../api/generated.ts";
import { seriesParams } from "../../api/client.ts";
import { get } from "../../api/get.ts";
import type { SeriesQuery } from "../../api/client.ts";
import type { ServerClock } from "../../api/clock.ts";
import { Feed } from "../../api/feed.ts";
import type { FeedState } from "../../api/feed.ts";
import { OPS, sameTarget } from "../../api/model.ts";
import type { TargetKey } from "../../api/model.ts";
import { Tail } from "../../api/tail.ts";
import { before, hours } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import type { Address } from "./address.ts";
import { Choice } from "./choice.ts";

export type Change = "targets" | "series" | "live" | "choice" | "feed" | "error";

/** How often the windows are asked for again, and how often everything. */
const refreshEvery = (window: Ms): number => Math.min(Math.max(window / 5, 2000), 15_000);
const renewEvery = (series: Series): number => ([...Object.values(series.ops)].some((op) => op.cells !== null) ? 60_000 : 300_000);
const RETRY_MS = 3000;
/** From this length on windows come first. */
const COUNTED = hours(24);
/** Of a longer range single operations would be too many to count in time: windows alone. */
const MOST_POINTS = hours(24 * 31);

export class Session {
  targets: Target[] = [];
  key: TargetKey | null;
  readonly choice: Choice;
  feedState: FeedState = "connecting";
  series: Series | null = null;
  error: string | null = null;
  /** What the server cannot read of its store. */
  trouble: string[] = [];
  zone: string | null = null;
  readonly tail = new Tail();
  private readonly clock: ServerClock;
  private readonly changed: (change: Change) => void;
  private feed: Feed | null = null;
  private whole: Target | null = null;
  private pending: AbortController | null = null;
  private renewed = 0;
  private refreshed = 0;

  constructor(clock: ServerClock, start: Address, changed: (change: Change) => void) {
    this.clock = clock;
    this.key = start.key;
    this.choice = new Choice(clock, start.range, start.window);
    if (start.span !== null) this.choice.zoomTo(start.span.from, start.span.to);
    this.changed = changed;
  }

  get target(): Target | null {
    return this.targets.find((t) => sameTarget(t, this.key)) ?? null;
  }

  get window(): Ms {
    return this.choice.usedWindow(this.target?.state.period ?? null);
  }

  /** What is in view; a view that stands still says when, so that a colleague sees the same. */
  get address(): Address {
    const { range, window, paused, span } = this.choice;
    return { key: this.key, range, window, span: paused ? span : null };
  }

  /** One of many, whole: the others came in brief. */
  private setTarget(one: Target): void {
    this.whole = one;
    this.clock.heard(one.as_of);
    this.targets = this.targets.map((each) => (sameTarget(each, one) ? one : each));
    this.changed("targets");
  }

  setTargets(targets: Target[]): void {
    const { whole } = this;
    this.targets = targets.map((each) => (each.state.ops.length === 0 && whole !== null && sameTarget(each, whole) ? { ...each, state: whole.state } : each));
    const first = targets[0];
    if (first !== undefined) this.clock.heard(first.as_of);
    this.changed("targets");
    if (this.target === null && first !== undefined) this.choose(first);
  }

  choose(key: TargetKey): void {
    if (sameTarget(key, this.key) && (this.series !== null || this.pending !== null)) return;
    this.forget(key);
    this.restart();
  }

  private forget(key: TargetKey): void {
    this.key = { host: key.host, target: key.target };
    this.series = null;
    this.tail.clear();
  }

  /** Changes what is in view, and fetches it. */
  look(change: (choice: Choice) => void): void {
    change(this.choice);
    this.restart();
  }

  /** The panels stand still; the cards and the feed go on. */
  pause(): void {
    this.choice.stop();
    this.changed("choice");
  }

  resume(): void {
    this.look((choice) => choice.follow(choice.range));
  }

  /** What the address says, after somebody changed it by hand. */
  adopt(address: Address): void {
    const { key, range, window, span } = this.address;
    const still = address.span?.from === span?.from && address.span?.to === span?.to;
    const same = sameTarget(address.key, key) && address.range === range && address.window === window && still;
    if (same || address.key === null) return;
    if (!sameTarget(address.key, key)) this.forget(address.key);
    this.choice.window = address.window;
    this.look((choice) => {
      choice.follow(address.range);
      if (address.span !== null) choice.zoomTo(address.span.from, address.span.to);
    });
  }

  /** The feed alone, for a page without targets. */
  listen(): void {
    this.openFeed(null, null);
  }

  fail(error: unknown): void {
    this.error = errorText(error);
    this.changed("error");
  }

  /** Called about every second. */
  tick(now: number): void {
    if (this.choice.paused || this.pending !== null) return;
    if (this.key === null || this.targets.length === 0) return; // the server's clock comes with the targets
    if (this.series === null) return void (now - this.renewed > RETRY_MS && this.load(true));
    if (now - this.renewed > renewEvery(this.series)) return void this.load(true);
    if (now - this.refreshed > refreshEvery(this.series.window)) void this.load(false);
  }

  /** Nobody looks: give the connection back, a browser has only six of them for all its tabs. */
  sleep(): void {
    this.feed?.close();
    this.feed = null;
  }

  /** Somebody looks again. */
  wake(): void {
    if (this.key === null) this.listen();
    else void this.load(true, true);
  }

  private restart(): void {
    this.changed("choice");
    this.pending?.abort();
    this.pending = null;
    void this.load(true, true);
  }

  private query(points: boolean): SeriesQuery | null {
    if (this.key === null) return null;
    const { window, choice } = this;
    // One window more on the left, so that its cell is whole when it moves into the edge.
    const since = before(choice.span.from, window);
    return { ...this.key, since, until: choice.zoom?.to ?? null, window, points: points && choice.length <= MOST_POINTS };
  }

  private async load(points: boolean, reopen = false): Promise<void> {
    const query = this.query(points);
    if (query === null || (this.pending !== null && !reopen)) return;
    const pending = new AbortController();
    this.pending = pending;
    const now = performance.now();
    this.refreshed = now;
    if (points) this.renewed = now;
    try {
      if (reopen && query.points && this.choice.length > COUNTED) await this.windowsFirst(query, pending.signal);
      const series = await get("api/series", seriesParams(query), pending.signal);
      if (pending.signal.aborted) return;
      this.take(series, points);
      if (reopen) this.openFeed(this.key, series.as_of);
      this.error = null;
      this.changed("error");
      this.changed("series");
    } catch (error) {
      if (pending.signal.aborted) return;
      if (reopen && this.feed === null) this.openFeed(this.key, null);
      this.fail(error);
    } finally {
      if (this.pending === pending) this.pending = null;
    }
  }

  /** Millions of operations take a second to count; their windows are there at once. */
  private async windowsFirst(query: SeriesQuery, signal: AbortSignal): Promise<void> {
    const series = await get("api/series", seriesParams({ ...query, points: false }), signal);
    if (signal.aborted) return;
    this.take(series, false);
    this.changed("series");
  }

  private take(series: Series, points: boolean): void {
    if (points || this.series === null) {
      this.series = series;
      this.tail.covered(series.as_of);
      return;
    }
    const old = this.series.ops;
    const ops = Object.fromEntries(OPS.flatMap((op) => {
      const [had, fresh] = [old[op], series.ops[op]];
      return fresh === undefined ? [] : [[op, had === undefined ? fresh : { ...had, windows: fresh.windows }]];
    }));
    this.series = { ...series, ops };
  }

  private openFeed(key: TargetKey | null, seen: UnixMs | null): void {
    this.feed?.close();
    this.feed = new Feed({ key, after: seen, zone: this.zone }, {
      targets: (targets) => this.setTargets(targets),
      target: (one) => this.setTarget(one),
      points: (chunk) => {
        this.tail.add(chunk);
        this.changed("live");
      },
      trouble: (lines) => {
        this.trouble = lines;
        this.changed("error");
      },
      reload: () => void this.load(true, true),
      state: (state) => {
        this.feedState = state;
        this.changed("feed");
      },
      failed: (error) => this.fail(error),
    });
  }
}


