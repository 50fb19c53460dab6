// The parameters of a simulated queue, in the address after the #: a link shows a colleague the same.
import { DISCIPLINES } from "../../api/simulate.ts";
import type { Knobs, SimulateQuery } from "../../api/simulate.ts";
import { KNOBS } from "../../components/simulate/knobs.ts";

/** What figure 5 of the queue model's paper shows: a process that writes without end, and a long queue. */
export const START: SimulateQuery = {
  knobs: Object.fromEntries(KNOBS.map((knob) => [knob.name, knob.start])) as unknown as Knobs,
  discipline: "fifo",
};

/** null: the address is not that of the simulation. What does not fit is as at the start. */
export function readSimulateAddress(hash: string): SimulateQuery | null {
  const params = new URLSearchParams(hash.replace(/^#\/simulate(?:\?|$)/, "#page=simulate&").replace(/^#/, ""));
  if (params.get("page") !== "simulate") return null;
  const knobs = KNOBS.map(({ name, least, most, start }) => {
    const value = Number(params.get(name) ?? "NaN");
    return [name, Number.isInteger(value) && value >= least && value <= most ? value : start];
  });
  return {
    knobs: Object.fromEntries(knobs) as unknown as Knobs,
    discipline: DISCIPLINES.find((one) => one === params.get("discipline")) ?? START.discipline,
  };
}

export function simulateAddress({ knobs, discipline }: SimulateQuery): string {
  const numbers = Object.entries(knobs).map(([name, value]) => [name, String(value)] as [string, string]);
  return `#${new URLSearchParams([["page", "simulate"], ...numbers, ["discipline", discipline]]).toString()}`;
}
