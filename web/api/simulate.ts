// A simulated storage queue, as the server answers it.
import { getJson } from "./client.ts";
import { list, number, orNull, record, text } from "./decode.ts";

/** Whole numbers of a question, as the API names them. */
export interface Knobs {
  readonly service_ticks: number;
  readonly queue: number;
  readonly processes: number;
  readonly writers: number;
  /** Percent. */
  readonly writes: number;
  readonly ticks: number;
  readonly seed: number;
}

export const DISCIPLINES = ["fifo", "fair", "reads-first"] as const;
export type Discipline = (typeof DISCIPLINES)[number];

export interface SimulateQuery {
  readonly knobs: Knobs;
  readonly discipline: Discipline;
}

export interface ClientTrace {
  readonly name: string;
  /** Shares of what the storage can execute, a bin each. */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly longestRead: readonly (number | null)[];
}

export interface SimulatedQueue {
  readonly sentence: string;
  readonly say: readonly string[];
  readonly table: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
  readonly ticks: number;
  readonly binTicks: number;
  /** null: each client has a queue of its own. */
  readonly queue: number | null;
  readonly mostWaiting: readonly number[];
  readonly clients: readonly ClientTrace[];
}

export function simulateUrl({ knobs, discipline }: SimulateQuery, more: Readonly<Record<string, string>> = {}): string {
  const numbers = Object.entries(knobs).map(([name, value]) => [name, String(value)] as [string, string]);
  return `api/simulate?${new URLSearchParams([...numbers, ["discipline", discipline], ...Object.entries(more)]).toString()}`;
}

export async function fetchSimulated(query: SimulateQuery, signal: AbortSignal): Promise<SimulatedQueue> {
  const raw = record(await getJson(simulateUrl(query), signal), "simulated");
  const words = (value: unknown): string[] => list(value, "simulated").map((one) => text(one, "simulated"));
  const numbers = (value: unknown): number[] => list(value, "simulated").map((one) => number(one, "simulated"));
  const table = record(raw["table"], "table");
  return {
    sentence: text(raw["sentence"], "sentence"),
    say: words(raw["say"]),
    table: { head: words(table["head"]), rows: list(table["rows"], "rows").map(words) },
    ticks: number(raw["ticks"], "ticks"),
    binTicks: number(raw["bin_ticks"], "bin_ticks"),
    queue: orNull(raw["queue"], (value) => number(value, "queue")),
    mostWaiting: numbers(raw["most_waiting"]),
    clients: list(raw["clients"], "clients").map((value) => {
      const one = record(value, "client");
      const longest = list(one["longest_read_ticks"], "longest").map((v) => orNull(v, (w) => number(w, "longest")));
      return { name: text(one["name"], "name"), reads: numbers(one["reads"]), writes: numbers(one["writes"]), longestRead: longest };
    }),
  };
}
