// What the page knows and how it keeps knowing it: which target, which span, the series, the live feed.
// Draws nothing; says what changed.
import { fetchSeries } from "../api/client.ts";
import type { SeriesQuery } from "../api/client.ts";
import type { ServerClock } from "../api/clock.ts";
import { Feed } from "../api/feed.ts";
import type { FeedState } from "../api/feed.ts";
import { sameTarget } from "../api/model.ts";
import type { OpSeries, Op, Series, Target, TargetKey } from "../api/model.ts";
import { Tail } from "../api/tail.ts";
import { before, between, seconds } from "../api/time.ts";
import type { Ms, UnixMs } from "../api/time.ts";
import { autoWindow, fitting, rangeById, suitedWindow } from "../components/pickers.ts";
import { DEFAULT_RANGE } from "./address.ts";

export interface Zoom {
  readonly from: UnixMs;
  readonly to: UnixMs;
}

export type Change = "targets" | "series" | "live" | "choice" | "feed" | "error";

/** How often the windows are asked for again, and how often everything. */
const refreshEvery = (window: Ms): number => Math.min(Math.max(window / 5, 2000), 15_000);
const renewEvery = (series: Series): number => ([...series.ops.values()].some((op) => op.cells !== null) ? 60_000 : 300_000);
const RETRY_MS = 3000;

export class Session {
  targets: Target[] = [];
  key: TargetKey | null;
  range: string;
  window: Ms | null;
  zoom: Zoom | null = null;
  paused = false;
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
  private pending: AbortController | null = null;
  private renewed = 0;
  private refreshed = 0;
  private frozen: UnixMs | null = null;

  constructor(clock: ServerClock, start: { key: TargetKey | null; range: string; window: Ms | null }, changed: (change: Change) => void) {
    this.clock = clock;
    this.key = start.key;
    this.range = start.range;
    this.window = start.window;
    this.changed = changed;
  }

  get target(): Target | null {
    return this.targets.find((t) => sameTarget(t, this.key)) ?? null;
  }

  get length(): Ms {
    if (this.zoom !== null) return between(this.zoom.from, this.zoom.to);
    return rangeById(this.range)?.length ?? seconds(600);
  }

  /** The window in use: the picked one if it fits the range, else the suited one. */
  get usedWindow(): Ms {
    if (this.window !== null && fitting(this.window, this.length)) return this.window;
    const suited = this.zoom === null ? (rangeById(this.range) ?? rangeById(DEFAULT_RANGE))?.window : suitedWindow(this.length);
    return autoWindow(this.length, suited ?? seconds(10), this.target?.period ?? null);
  }

  /** The span in view; it moves with the server's clock unless zoomed or paused. */
  get span(): Zoom {
    if (this.zoom !== null) return this.zoom;
    const to = this.frozen ?? this.clock.now();
    return { from: before(to, this.length), to };
  }

  setTargets(targets: Target[]): void {
    this.targets = targets;
    const first = targets[0];
    if (first !== undefined) this.clock.heard(first.asOf);
    this.changed("targets");
    if (this.target === null && first !== undefined) this.choose(worst(targets) ?? first);
  }

  choose(key: TargetKey): void {
    if (sameTarget(key, this.key) && (this.series !== null || this.pending !== null)) return;
    this.key = { host: key.host, target: key.target };
    this.series = null;
    this.tail.clear();
    this.restart();
  }

  /** A range counted from now: also the way back from a zoom or a pause. */
  setRange(range: string): void {
    if (range === this.range && this.zoom === null && !this.paused) return;
    this.range = range;
    this.zoom = null;
    this.paused = false;
    this.frozen = null;
    this.restart();
  }

  setWindow(window: Ms | null): void {
    this.window = window;
    this.restart();
  }

  zoomTo(from: UnixMs, to: UnixMs): void {
    this.frozen = null;
    this.zoom = { from, to };
    this.paused = true;
    this.restart();
  }

  pause(): void {
    this.paused = true;
    this.frozen = this.clock.now(); // the panels stand still; the cards and the feed go on
    this.changed("choice");
  }

  resume(): void {
    this.setRange(this.range);
  }

  /** The feed alone, for a page without targets. */
  listen(): void {
    this.openFeed(null, null);
  }

  fail(error: unknown): void {
    this.error = error instanceof Error ? error.message : String(error);
    this.changed("error");
  }

  /** Called about every second. */
  tick(now: number): void {
    if (this.paused || this.pending !== null) return;
    if (this.key === null) return;
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
    const window = this.usedWindow;
    const { from } = this.span;
    // One window more on the left, so that its cell is whole when it moves into the edge.
    const since = before(from, window);
    return { ...this.key, since, until: this.zoom?.to ?? null, window, points };
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
      const series = await fetchSeries(query, pending.signal);
      if (pending.signal.aborted) return;
      this.take(series, points);
      if (reopen) this.openFeed(this.key, series.asOf);
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

  private take(series: Series, points: boolean): void {
    if (points || this.series === null) {
      this.series = series;
      this.tail.covered(series.asOf);
      return;
    }
    const old = this.series.ops;
    const ops = new Map<Op, OpSeries>();
    for (const [op, fresh] of series.ops) {
      const had = old.get(op);
      ops.set(op, had === undefined ? fresh : { ...had, windows: fresh.windows });
    }
    this.series = { ...series, ops };
  }

  private openFeed(key: TargetKey | null, after: UnixMs | null): void {
    this.feed?.close();
    this.feed = new Feed({ key, after, zone: this.zone }, {
      targets: (targets) => this.setTargets(targets),
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

const ORDER = ["ok", "info", "unknown", "slow", "hung"];

/** The target worth looking at first. */
const worst = (targets: readonly Target[]): Target | null =>
  [...targets].sort((a, b) => ORDER.indexOf(b.severity) - ORDER.indexOf(a.severity))[0] ?? null;

