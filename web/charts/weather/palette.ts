// The page's colours, read from the style sheet, so that light and dark live in one place.
import { parseRgb } from "./scale.ts";
import type { Rgb } from "./scale.ts";

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

const RAMP_VARIABLES = ["--ramp-1", "--ramp-1-5", "--ramp-2", "--ramp-4", "--ramp-8", "--ramp-16"];

/** The colours that hold inside `parent` now. Ask again when the theme changes. */
export function readPalette(parent: Element): Palette {
  // A custom property comes back as it was written; as the colour of an element it comes back resolved.
  const probe = document.createElement("span");
  parent.append(probe);
  const style = getComputedStyle(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(${name})`;
    return style.color;
  };
  const palette = {
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
    ramp: RAMP_VARIABLES.map((name) => parseRgb(colour(name))),
    font: style.fontFamily,
  };
  probe.remove();
  return palette;
}
