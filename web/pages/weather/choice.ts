// Which span of time is in view, and in windows of which length. No requests, no drawing.
import type { ServerClock } from "../../api/clock.ts";
import { after, before, between, ms, seconds } from "../../api/time.ts";
import type { Ms, UnixMs } from "../../api/time.ts";
import { autoWindow, fitting, rangeById, suitedWindow } from "../../components/weather/pickers.ts";
import { DEFAULT_RANGE } from "./address.ts";
import type { Zoom } from "./address.ts";

export class Choice {
  range: string;
  /** null: auto. */
  window: Ms | null;
  /** A span that stands still; null: the last `range`. */
  zoom: Zoom | null = null;
  private stopped: UnixMs | null = null;
  private readonly clock: ServerClock;

  constructor(clock: ServerClock, range: string, window: Ms | null) {
    this.clock = clock;
    this.range = range;
    this.window = window;
  }

  /** The view does not move with the time. */
  get paused(): boolean {
    return this.zoom !== null || this.stopped !== null;
  }

  get length(): Ms {
    if (this.zoom !== null) return between(this.zoom.from, this.zoom.to);
    return rangeById(this.range)?.length ?? seconds(600);
  }

  /** The span in view; it moves with the server's clock unless paused. */
  get span(): Zoom {
    if (this.zoom !== null) return this.zoom;
    const to = this.stopped ?? this.clock.now();
    return { from: before(to, this.length), to };
  }

  /** The window in use: the picked one if it fits the range, else the suited one. */
  usedWindow(period: Ms | null): Ms {
    if (this.window !== null && fitting(this.window, this.length)) return this.window;
    const ranged = rangeById(this.range) ?? rangeById(DEFAULT_RANGE);
    const suited = this.zoom === null ? ranged?.window : suitedWindow(this.length);
    return autoWindow(this.length, suited ?? seconds(10), period);
  }

  /** Stands still from now on. */
  stop(): void {
    this.stopped = this.clock.now();
  }

  zoomTo(from: UnixMs, to: UnixMs): void {
    this.stopped = null;
    this.zoom = { from, to };
  }

  /** The last `range`, live. */
  follow(range: string): void {
    this.range = range;
    this.zoom = null;
    this.stopped = null;
  }

  /** As long a span, before this one (-1) or after it (1); past the present it is live again. */
  step(direction: -1 | 1): void {
    const { from, to } = this.span;
    const by = ms(direction * this.length);
    if (after(to, by) >= this.clock.now()) this.follow(this.range);
    else this.zoomTo(after(from, by), after(to, by));
  }
}
