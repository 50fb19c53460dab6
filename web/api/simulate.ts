// Questions about a simulated storage queue.
import { paramsOf } from "./get.ts";

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

export const simulateParams = ({ knobs, discipline }: SimulateQuery, more: Readonly<Record<string, string | null>> = {}): URLSearchParams =>
  paramsOf({ ...knobs, discipline, ...more });
