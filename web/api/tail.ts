// What the feed brought since the series was fetched. The series itself stays as the server sent it.
import type { Op, Points } from "./model.ts";
import type { UnixMs } from "./time.ts";

export interface Chunk {
  /** The server's clock when these rows became visible to it. */
  readonly asOf: UnixMs;
  readonly ops: ReadonlyMap<Op, Points>;
}

export const emptyPoints = (): Points => ({ due: [], response: [], service: [], outcome: [], heldUp: [] });

/** Copies row `i`. */
export function pushPoint(to: Points, from: Points, i: number): void {
  const due = from.due[i];
  const outcome = from.outcome[i];
  if (due === undefined || outcome === undefined) return;
  to.due.push(due);
  to.response.push(from.response[i] ?? null);
  to.service.push(from.service[i] ?? null);
  to.outcome.push(outcome);
  to.heldUp.push(from.heldUp[i] === true);
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
    this.chunks = this.chunks.filter((chunk) => chunk.asOf > asOf);
  }

  clear(): void {
    this.chunks = [];
  }

  /** Rows of one op due at or after `from`, without those that `known` already has. Later news wins. */
  points(op: Op, from: UnixMs, known: Points | null): Points {
    const last = new Map<UnixMs, [Points, number]>();
    for (const chunk of this.chunks) {
      const points = chunk.ops.get(op);
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
    for (const chunk of this.chunks) for (const points of chunk.ops.values()) n += points.due.length;
    return n;
  }
}
