// Axes and colour: pure functions from numbers to positions, ticks and colours.
import type { Ms } from "../../api/time.ts";
import { parseRgb } from "../shared/ramp.ts";

export interface Extent {
  readonly min: Ms;
  readonly max: Ms;
}

/** Multiples of powers of ten at which a log axis may end: steady while points come and go. */
const STEPS = [1, 2, 5];

function step(value: number, up: boolean): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  const candidates = [...STEPS, 10].map((s) => s * decade);
  const slack = 1e-9;
  if (up) return candidates.find((c) => c >= value * (1 - slack)) ?? 10 * decade;
  return [...candidates].reverse().find((c) => c <= value * (1 + slack)) ?? decade;
}

/** A log axis that holds min..max with a little air; null and non-positive values have no place on it. */
export function logExtent(values: Iterable<number | null>): Extent {
  let min = Infinity;
  let max = 0;
  for (const v of values) {
    if (v === null || !(v > 0)) continue;
    if (v < min) min = v;
    if (v > max) max = v;
  }
  if (max === 0) return { min: 0.1 as Ms, max: 100 as Ms };
  const low = step(min / 1.15, false);
  const high = step(max * 1.15, true);
  return { min: low as Ms, max: high as Ms };
}

/** Ticks of a log axis: decades, with 2 and 5 between them when there is room for `most` labels. */
export function logTicks(extent: Extent, most: number): Ms[] {
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    const ticks: Ms[] = [];
    for (let e = Math.floor(Math.log10(extent.min)) - 1; 10 ** e <= extent.max * 1.0001; e += 1) {
      for (const s of steps) {
        const tick = s * 10 ** e;
        if (tick >= extent.min * 0.9999 && tick <= extent.max * 1.0001) ticks.push(tick as Ms);
      }
    }
    if (ticks.length >= 2 && ticks.length <= most) return ticks;
  }
  return decades(extent, most);
}

function decades(extent: Extent, most: number): Ms[] {
  const low = Math.ceil(Math.log10(extent.min) - 1e-6);
  const high = Math.floor(Math.log10(extent.max) + 1e-6);
  if (high <= low) return [extent.min, extent.max];
  const every = Math.max(1, Math.ceil((high - low + 1) / most));
  const ticks: Ms[] = [];
  for (let e = low; e <= high; e += every) ticks.push((10 ** e) as Ms);
  return ticks;
}

/** Black or white, whichever reads better on the colour ("rgb(r, g, b)"). */
export function inkOn(colour: string): "#000" | "#fff" {
  const [r, g, b] = parseRgb(colour);
  const linear = (part: number): number => (part <= 10.3 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  // Relative luminance of WCAG 2: here black and white have the same contrast.
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > 0.179 ? "#000" : "#fff";
}

/** Opacity of a density cell: the logarithm of its count, so that a single operation is still seen. */
export function densityAlpha(count: number, most: number): number {
  if (count <= 0) return 0;
  if (most <= 1) return 0.8;
  return 0.16 + 0.64 * (Math.log(count) / Math.log(most));
}
