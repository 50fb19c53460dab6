// A stretch marked on a panel's plot: a band with an edge at its begin and its end.
import type { UnixMs } from "../../api/time.ts";
import { h } from "../shared/dom.ts";

export interface Marked {
  readonly begin: UnixMs;
  /** null: it goes on. */
  readonly end: UnixMs | null;
}

/** Puts the mark on the plot inside `panel`, whose axis goes from `from` to `to`. */
export function markSpan(panel: HTMLElement, { begin, end }: Marked, from: UnixMs, to: UnixMs): void {
  const plot = panel.querySelector(".u-over");
  if (plot === null) return;
  const share = (t: UnixMs): number => Math.min(1, Math.max(0, (t - from) / (to - from)));
  const mark = h("div", { class: "span-mark", "aria-hidden": "true" });
  mark.style.left = `${100 * share(begin)}%`;
  mark.style.width = `${100 * (share(end ?? to) - share(begin))}%`;
  if (end === null) mark.dataset["open"] = "";
  plot.append(mark);
}
