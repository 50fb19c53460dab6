// The weather of a target. Each severity has a shape and a word of its own; colour only repeats them.
import type { Severity } from "../../api/model.ts";
import { svg } from "../shared/dom.ts";

const CLOUD = "M7 18.5h9.5a4 4 0 0 0 .6-7.95A5.5 5.5 0 0 0 6.5 9.6 4.5 4.5 0 0 0 7 18.5z";
const HIGH_CLOUD = "M7 14.5h9.5a3.6 3.6 0 0 0 .5-7.15A5 5 0 0 0 7.3 6.2 4.2 4.2 0 0 0 7 14.5z";

const line = (d: string): SVGElement => svg("path", { d });

const SHAPES: Record<Severity, () => SVGElement[]> = {
  // sun
  ok: () => [
    svg("circle", { cx: "12", cy: "12", r: "4.2" }),
    line("M12 3v2.2M12 18.8V21M3 12h2.2M18.8 12H21M5.6 5.6l1.6 1.6M16.8 16.8l1.6 1.6M5.6 18.4l1.6-1.6M16.8 7.2l1.6-1.6"),
  ],
  // cloud with a little sun
  info: () => [line("M15.5 4.2V3M19.6 6l.9-.9M21.3 10h1.2M11.4 6l-.9-.9M12.4 7.2a3.6 3.6 0 0 1 6.3 3.4"), line(CLOUD)],
  // rain
  slow: () => [line(HIGH_CLOUD), line("M8.5 17l-1.2 3.4M12.5 17l-1.2 3.4M16.5 17l-1.2 3.4")],
  // thunderstorm
  hung: () => [line(HIGH_CLOUD), line("M12.8 13l-3.3 4.6h3.6L10.6 22")],
  // fog
  unknown: () => [line("M4 8h16M7 12h13M4 16h12M9 20h9")],
};

const WORDS: Record<Severity, string> = {
  ok: "as usual",
  info: "note",
  slow: "slow",
  hung: "hanging",
  unknown: "unknown",
};

const KIND_WORDS: Record<string, string> = {
  usual: "as usual",
  learning: "learning",
  host_busy: "host busy",
  failing: "failing",
  lost: "lost",
  stopped: "stopped",
  stale: "silent",
  damaged: "unreadable",
};

export const severityWord = (severity: Severity, kind: string): string => KIND_WORDS[kind] ?? WORDS[severity];

/** Decorative: the word beside it says the same. */
export function severityIcon(severity: Severity): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false", "data-icon": severity },
    ...SHAPES[severity](),
  );
}
