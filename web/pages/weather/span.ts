// The span in view: what it is called, and the buttons that go back and on.
import { between } from "../../api/time.ts";
import { formatClock, formatDate, formatSpan } from "../../charts/shared/format.ts";
import { zoneName } from "../../charts/shared/zone.ts";
import type { Span } from "../../charts/weather/grid.ts";
import { h } from "../../components/shared/dom.ts";
import type { Session } from "./session.ts";

/** `the last 30 min in windows of 60 s`; where time was chosen, from when to when. */
export function spanText(view: Span, chosen: boolean): string {
  const length = formatSpan(between(view.from, view.to));
  const window = `windows of ${formatSpan(view.window)}`;
  if (!chosen) return `the last ${length} in ${window}, times are ${zoneName(view.to)}`;
  const end = formatDate(view.from) === formatDate(view.to) ? formatClock(view.to, true) : `${formatDate(view.to)} ${formatClock(view.to, true)}`;
  return `${formatDate(view.from)} ${formatClock(view.from, true)} to ${end} ${zoneName(view.to)} in ${window}`;
}

/** Goes back or on in time by the length in view. */
export function stepButton(session: Session, direction: -1 | 1): HTMLButtonElement {
  const name = direction < 0 ? "earlier" : "later";
  const button = h("button", { type: "button", class: "quiet", title: name }, h("span", { "aria-hidden": "true" }, direction < 0 ? "‹" : "›"));
  button.setAttribute("aria-label", name);
  button.addEventListener("click", () => session.look((choice) => choice.step(direction)));
  return button;
}
