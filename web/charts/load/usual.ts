// The rate that a column's width shows: a peak of a few minutes must not take the room of all others.
import type { Load } from "../../api/generated.ts";
import type { LoadCells } from "../../api/load.ts";

/** Share of the recorded time in which a column's mean rate is not above the rate that its width shows. */
const USUAL = 0.99;

/** By column: the rate that `USUAL` of its cells with records do not exceed; no less than a twentieth of its largest. */
export function usualRates(load: Load, { values, cells }: LoadCells): number[] {
  const recorded = values.subarray(2 * (load.columns.length + 1) * cells, (2 * (load.columns.length + 1) + 1) * cells);
  return load.columns.map(({ most_per_s: most }, i) => {
    const means = values.subarray(2 * (i + 1) * cells, (2 * (i + 1) + 1) * cells).filter((_, cell) => (recorded[cell] ?? 0) > 0);
    means.sort();
    const usual = means[Math.ceil(USUAL * means.length) - 1] ?? most;
    return Math.min(most, Math.max(usual, most / 20));
  });
}
