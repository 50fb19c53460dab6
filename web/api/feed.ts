// The live feed: server-sent events, and an honest answer to "is this still live?".
import type { Target } from "./generated.ts";
import { inMs, paramsOf, urlOf } from "./get.ts";
import type { TargetKey } from "./model.ts";
import type { Chunk } from "./tail.ts";
import { nsText } from "./time.ts";
import type { UnixMs } from "./time.ts";

/** connecting: no event yet; live: events come; lost: the connection broke or fell silent, retrying. */
export type FeedState = "connecting" | "live" | "lost";

export interface FeedHandlers {
  readonly targets: (targets: Target[]) => void;
  /** Of many targets the one that was asked for, whole. */
  readonly target: (target: Target) => void;
  readonly points: (chunk: Chunk) => void;
  /** What the server cannot read, one line each; none: all is well again. */
  readonly trouble: (lines: string[]) => void;
  /** The server can no longer tell what was missed: fetch the series again. */
  readonly reload: () => void;
  readonly state: (state: FeedState) => void;
  readonly failed: (error: unknown) => void;
}

/** The server sends something about every second; three missed beats and more mean silence. */
const SILENCE_MS = 4500;
const RETRY_MS = 2000;

export interface FeedQuery {
  readonly key: TargetKey | null;
  /** Rows that became visible to the server after this instant (a series' as_of). */
  readonly after: UnixMs | null;
  readonly zone: string | null;
}

export const feedUrl = ({ key, after, zone }: FeedQuery): string =>
  urlOf("api/feed", paramsOf({ host: key?.host ?? null, target: key?.target ?? null, brief: true, zone, after_ns: after === null ? null : nsText(after) }));

export class Feed {
  private source: EventSource | null = null;
  private readonly watch: number;
  private lastBeat = performance.now();
  private state: FeedState | null = null;
  private readonly query: FeedQuery;
  private readonly on: FeedHandlers;

  constructor(query: FeedQuery, on: FeedHandlers) {
    this.query = query;
    this.on = on;
    this.open(feedUrl(query));
    this.watch = window.setInterval(() => this.check(), 500);
  }

  close(): void {
    window.clearInterval(this.watch);
    this.source?.close();
    this.source = null;
  }

  private open(url: string): void {
    this.source?.close();
    this.set(this.state === null ? "connecting" : this.state);
    const source = new EventSource(url);
    this.source = source;
    this.lastBeat = performance.now();
    this.listen<Target[]>(source, "targets", (data) => this.on.targets(data));
    this.listen<Target[]>(source, "target", (data) => data.forEach((one) => this.on.target(one)));
    this.listen<Chunk>(source, "points", (data) => this.on.points(data));
    this.listen<string[]>(source, "trouble", (data) => this.on.trouble(data));
    this.listen<unknown>(source, "reload", () => this.on.reload());
    // The browser reconnects by itself and repeats the last event's id, so nothing is missed or doubled.
    source.addEventListener("error", () => this.set("lost"));
  }

  private listen<T>(source: EventSource, name: string, use: (data: T) => void): void {
    source.addEventListener(name, (event) => {
      this.lastBeat = performance.now();
      this.set("live");
      try {
        use(inMs(JSON.parse((event as MessageEvent<string>).data)) as T);
      } catch (error) {
        this.on.failed(error);
      }
    });
  }

  private check(): void {
    const silent = performance.now() - this.lastBeat;
    if (silent > SILENCE_MS) this.set("lost");
    // A refused connection is closed for good by the browser, and a dead peer may never say so: start anew,
    // and let the page fetch what was missed, since the new connection knows no last event.
    const closed = this.source?.readyState === EventSource.CLOSED;
    if ((closed && silent > RETRY_MS) || silent > 3 * SILENCE_MS) {
      this.open(feedUrl(this.query));
    }
  }

  private set(state: FeedState): void {
    if (state === this.state) return;
    this.state = state;
    this.on.state(state);
  }
}
