// Colours as numbers, and the ramp of slowdowns.
import { cssColours } from "./css_colours.ts";

export type Rgb = readonly [number, number, number];

/** "rgb(1, 2, 3)", as a browser resolves any colour. */
export function parseRgb(colour: string): Rgb {
  const [r = 0, g = 0, b = 0] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}

const RAMP_VARIABLES = ["--ramp-1", "--ramp-1-5", "--ramp-2", "--ramp-4", "--ramp-8", "--ramp-16"];

/** The ramp's colours that hold inside `parent` now. */
export function readRamp(parent: Element): Rgb[] {
  const { colour } = cssColours(parent);
  return RAMP_VARIABLES.map((name) => parseRgb(colour(name)));
}

/** Slowdowns at which the ramp's colours stand; between them the colour runs with the logarithm. */
export const RAMP_AT = [1, 1.5, 2, 4, 8, 16] as const;

/** Colour of a slowdown on the log ramp; `stops` has one colour for each of RAMP_AT. */
export function rampColour(slowdown: number, stops: readonly Rgb[]): string {
  const at = Math.min(Math.max(slowdown, RAMP_AT[0]), RAMP_AT[RAMP_AT.length - 1] ?? 1);
  let i = 0;
  while (i < RAMP_AT.length - 2 && at > (RAMP_AT[i + 1] ?? Infinity)) i += 1;
  const [a, b] = [RAMP_AT[i] ?? 1, RAMP_AT[i + 1] ?? 2];
  const share = Math.log(at / a) / Math.log(b / a);
  const [from, to] = [stops[i] ?? [0, 0, 0], stops[i + 1] ?? [0, 0, 0]];
  const mix = (k: 0 | 1 | 2): number => Math.round(from[k] + (to[k] - from[k]) * share);
  return `rgb(${mix(0)}, ${mix(1)}, ${mix(2)})`;
}
