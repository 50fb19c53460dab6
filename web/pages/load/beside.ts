// What is asked for beside the load: how slow a target was in the same span, and which jobs a place is made of.
import type { Load, Series } from "../../api/generated.ts";
import { Latest } from "../../api/latest.ts";
import { seriesParams } from "../../api/client.ts";
import { get, paramsOf } from "../../api/get.ts";
import { recordedSpan } from "../../api/load.ts";
import type { ColumnKind } from "../../api/load.ts";
import type { TargetKey } from "../../api/model.ts";
import { hours, minutes, ms, nsText, seconds, unixMs } from "../../api/time.ts";
import type { Ms } from "../../api/time.ts";
import { held } from "../../charts/load/layout.ts";
import type { TimeSpan } from "../../charts/load/layout.ts";
import { jobWords } from "../../components/load/reading.ts";
import type { Pointed } from "../../components/load/reading.ts";

const WINDOWS: readonly Ms[] = [seconds(10), seconds(30), minutes(1), minutes(5), minutes(15), hours(1), hours(4), hours(24), hours(168)];
const MOST_WINDOWS = 300;
const MOST_JOBS = 3;
const HOVER_MS = 160;

/** The span within what was recorded; null: all of it. */
export function heldIn(span: TimeSpan | null, load: Load): TimeSpan {
  const recorded = recordedSpan(load);
  return held(span ?? recorded, recorded);
}

/** The slowdown in a span and as far again on either side; null: somebody else asked meanwhile, or nobody knows. */
export class SlowdownBeside {
  private readonly asking = new Latest();

  async of(target: TargetKey, { from, to }: TimeSpan): Promise<Series | null> {
    const length = to - from;
    const window = WINDOWS.find((one) => length / one <= MOST_WINDOWS) ?? ms(hours(168) * 4);
    const signal = this.asking.next();
    const query = { host: target.host, target: target.target, since: unixMs(Math.max(0, from - length)), until: unixMs(to + length), window, points: false };
    // The weather page says what is wrong with a target.
    const found = await get("api/series", seriesParams(query), signal).catch(() => null);
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
      get("api/load/jobs", paramsOf({ by, since_ns: nsText(at.from), until_ns: nsText(at.to), limit: MOST_JOBS, name: at.name }), signal)
        .then((found) => {
          if (signal.aborted) return;
          this.largest = found.jobs[0]?.job_id ?? null;
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
