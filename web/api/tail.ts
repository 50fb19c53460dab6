// What the feed brought since the series was fetched. The series itself stays as the server sent it.
import type { Points, Series } from "./generated.ts";
import type { Op } from "./model.ts";
import type { UnixMs } from "./time.ts";

/** Operations that became visible to the server by `as_of`. */
export interface Chunk extends Pick<Series, "as_of"> {
  readonly ops: Partial<Record<Op, Points>>;
}

export const emptyPoints = (): Points => ({ due: [], response: [], service: [], outcome: [], held_up: [] });

/** Copies row `i`. */
export function pushPoint(to: Points, from: Points, i: number): void {
  const due = from.due[i];
  const outcome = from.outcome[i];
  if (due === undefined || outcome === undefined) return;
  to.due.push(due);
  to.response.push(from.response[i] ?? null);
  to.service.push(from.service[i] ?? null);
  to.outcome.push(outcome);
  to.held_up.push(from.held_up[i] === true);
}

/** About an hour of seconds; a page that is paused for longer fetches the series again. */
const MOST_CHUNKS = 4000;

/** Live rows, each once however often the server repeats it after a reconnect. */
export class Tail {
  private chunks: Chunk[] = [];

  add(chunk: Chunk): void {
    this.chunks.push(chunk);
    if (this.chunks.length > MOST_CHUNKS) this.chunks.shift();
  }

  /** A series read at `asOf` holds everything that was visible by then. */
  covered(asOf: UnixMs): void {
    this.chunks = this.chunks.filter((chunk) => chunk.as_of > asOf);
  }

  clear(): void {
    this.chunks = [];
  }

  /** Rows of one op due at or after `from`, without those that `known` already has. Later news wins. */
  points(op: Op, from: UnixMs, known: Points | null): Points {
    const last = new Map<UnixMs, [Points, number]>();
    for (const chunk of this.chunks) {
      const points = chunk.ops[op];
      points?.due.forEach((due, i) => {
        if (due >= from) last.set(due, [points, i]);
      });
    }
    const seen = new Set(known === null ? [] : known.due.slice(-last.size - 64));
    const found = emptyPoints();
    for (const [due, [points, i]] of last) if (!seen.has(due)) pushPoint(found, points, i);
    return found;
  }

  get size(): number {
    let n = 0;
    for (const chunk of this.chunks) for (const points of Object.values(chunk.ops)) n += points.due.length;
    return n;
  }
}
