// The page's colours, read from the style sheet, so that light and dark live in one place.
import { cssColours } from "../shared/css_colours.ts";
import { readRamp } from "../shared/ramp.ts";
import type { Rgb } from "../shared/ramp.ts";

export interface Palette {
  readonly ink: string;
  readonly faint: string;
  readonly grid: string;
  readonly surface: string;
  readonly point: string;
  readonly median: string;
  readonly band: string;
  readonly usual: string;
  readonly failed: string;
  readonly skipped: string;
  readonly slowTint: string;
  readonly density: string;
  readonly ramp: readonly Rgb[];
  readonly font: string;
}

/** The colours that hold inside `parent` now. Ask again when the theme changes. */
export function readPalette(parent: Element): Palette {
  const { colour, font } = cssColours(parent);
  return {
    ink: colour("--ink"),
    faint: colour("--ink-faint"),
    grid: colour("--grid"),
    surface: colour("--surface"),
    point: colour("--point"),
    median: colour("--median"),
    band: colour("--band"),
    usual: colour("--usual"),
    failed: colour("--failed"),
    skipped: colour("--skipped"),
    slowTint: colour("--slow-tint"),
    density: colour("--density"),
    ramp: readRamp(parent),
    font,
  };
}
