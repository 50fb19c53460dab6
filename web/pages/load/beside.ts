// What is asked for beside the load: how slow a target was in the same span, and which jobs a place is made of.
import { Latest } from "../../api/latest.ts";
import { fetchSeries } from "../../api/client.ts";
import { fetchLoadJobs } from "../../api/load.ts";
import type { ColumnKind } from "../../api/load.ts";
import type { Series, TargetKey } from "../../api/model.ts";
import { hours, minutes, ms, seconds, unixMs } from "../../api/time.ts";
import type { Ms } from "../../api/time.ts";
import type { TimeSpan } from "../../charts/load/layout.ts";
import { jobWords } from "../../components/load/reading.ts";
import type { Pointed } from "../../components/load/reading.ts";

const WINDOWS: readonly Ms[] = [seconds(10), seconds(30), minutes(1), minutes(5), minutes(15), hours(1), hours(4), hours(24), hours(168)];
const MOST_WINDOWS = 300;
const HOVER_MS = 160;

/** The slowdown in a span and as far again on either side; null: somebody else asked meanwhile, or nobody knows. */
export class SlowdownBeside {
  private readonly asking = new Latest();

  async of(target: TargetKey, { from, to }: TimeSpan): Promise<Series | null> {
    const length = to - from;
    const window = WINDOWS.find((one) => length / one <= MOST_WINDOWS) ?? ms(hours(168) * 4);
    const signal = this.asking.next();
    const query = { host: target.host, target: target.target, since: unixMs(Math.max(0, from - length)), until: unixMs(to + length), window, points: false };
    // The weather page says what is wrong with a target.
    const found = await fetchSeries(query, signal).catch(() => null);
    return signal.aborted ? null : found;
  }

  close(): void {
    this.asking.stop();
  }
}

/** The jobs at a place, a moment after the pointer rests there. */
export class JobsBeside {
  /** The largest of them. */
  largest: string | null = null;
  private readonly asking = new Latest();
  private timer = 0;

  rest(by: ColumnKind, at: Pointed | null, say: (words: string) => void): void {
    this.close();
    this.largest = null;
    if (at === null || by === "nodes") return;
    const signal = this.asking.next();
    this.timer = window.setTimeout(() => {
      fetchLoadJobs(by, at.name, at.from, at.to, signal)
        .then((found) => {
          if (signal.aborted) return;
          this.largest = found.jobs[0]?.job ?? null;
          say(`${at.words}; ${jobWords(found, by)}`);
        })
        .catch(() => undefined);
    }, HOVER_MS);
  }

  close(): void {
    window.clearTimeout(this.timer);
    this.asking.stop();
  }
}
