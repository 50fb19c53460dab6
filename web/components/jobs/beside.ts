// A job beside its time: what each target did while it ran, its own operations, what schedulers and counters say.
import type { JobBeside, SaidCourse, SaidStorage } from "../../api/generated.ts";
import type { TargetKey } from "../../api/model.ts";
import type { UnixMs } from "../../api/time.ts";
import { formatFactor, formatInstant } from "../../charts/shared/format.ts";
import { rampColour } from "../../charts/shared/ramp.ts";
import type { Rgb } from "../../charts/shared/ramp.ts";
import { h, svg } from "../shared/dom.ts";

export interface BesideLinks {
  readonly target: (key: TargetKey) => string;
  readonly load: () => string;
  readonly event: (id: string) => string;
}

/** A target's line: the slow stretches of the job's time on a bar, then its sentence. */
function storageRow(one: SaidStorage, begin: UnixMs, end: UnixMs, ramp: readonly Rgb[], links: BesideLinks): HTMLElement {
  const bar = h("span", { class: "while-bar", "aria-hidden": "true" });
  if (one.slow_s === 0 && one.clear_s === 0) bar.dataset["unknown"] = "";
  for (const { begin: from, end: to } of one.stretches) {
    const part = h("span", {});
    part.style.left = `${(100 * (from - begin)) / (end - begin)}%`;
    part.style.width = `${(100 * (to - from)) / (end - begin)}%`;
    part.style.backgroundColor = rampColour(one.told_level ?? 2, ramp);
    bar.append(part);
  }
  const host = one.hosts[0];
  const name = host === undefined ? h("b", {}, one.target) : h("a", { href: links.target({ host, target: one.target }) }, one.target);
  return h("li", { "data-target": one.target }, h("span", { class: "while-name" }, name, one.told_level === null ? "" : h("span", { class: "while-level" }, `≥ ${formatFactor(one.told_level)}`)), bar, h("span", { class: "while-words" }, one.sentence));
}

function storagePart(found: JobBeside, ramp: readonly Rgb[], links: BesideLinks): HTMLElement | null {
  const { begin, end } = found;
  if (begin === null || end === null || end <= begin) return null;
  const rows = found.storage.map((one) => storageRow(one, begin, end, ramp, links));
  const ends = h("p", { class: "while-ends" }, h("span", {}, formatInstant(begin)), h("span", {}, formatInstant(end)));
  const list = rows.length === 0 ? h("p", {}, "No probe watched any target then.") : h("ul", { class: "while" }, ...rows);
  return h("section", { class: "job-while surface", "aria-labelledby": "job-while" }, h("h3", { id: "job-while" }, "Storage while it ran"), list, rows.length === 0 ? null : ends);
}

const WIDTH = 600;
const HEIGHT = 110;

/** Steps of a rate; a cell without records breaks the line. */
function steps(values: readonly (number | null)[], most: number, close: boolean): string {
  const x = (i: number): string => ((WIDTH * i) / values.length).toFixed(1);
  const y = (value: number): string => (HEIGHT - (HEIGHT - 2) * (value / most)).toFixed(1);
  let path = "";
  let open = false;
  values.forEach((value, i) => {
    if (value === null) {
      if (open && close) path += `V${HEIGHT}Z`;
      open = false;
      return;
    }
    path += open ? `V${y(value)}H${x(i + 1)}` : `M${x(i)} ${close ? `${HEIGHT}V` : ""}${y(value)}H${x(i + 1)}`;
    open = true;
  });
  return open && close ? `${path}V${HEIGHT}Z` : path;
}

function loadPart(course: SaidCourse, links: BesideLinks): HTMLElement {
  const most = Math.max(1e-9, ...course.all_per_s.map((value) => value ?? 0), ...course.own_per_s.map((value) => value ?? 0));
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "course", role: "img", "aria-label": course.sentence },
    svg("path", { d: steps(course.own_per_s, most, true), class: "course-own" }),
    svg("path", { d: steps(course.all_per_s, most, false), class: "course-all" }),
  );
  const top = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(most);
  return h(
    "section",
    { class: "job-load surface", "aria-labelledby": "job-load" },
    h("h3", { id: "job-load" }, "Its own operations"),
    h("p", {}, course.sentence),
    h("div", { class: "course-frame" }, h("span", { class: "course-top" }, `${top} operations/s`), picture),
    h("p", { class: "course-key" }, h("span", { class: "key-own" }, "this job"), h("span", { class: "key-all" }, "all nodes"), h("a", { href: links.load() }, "Load of that time, by job")),
  );
}

const lines = (title: string, id: string, told: readonly (HTMLElement | string)[]): HTMLElement | null =>
  told.length === 0 ? null : h("section", { class: "surface", "aria-labelledby": id }, h("h3", { id }, title), h("ul", { class: "job-lines" }, ...told.map((one) => h("li", {}, one))));

/** `ramp`: colours of slowdowns. */
export function besideView(found: JobBeside, ramp: readonly Rgb[], links: BesideLinks): HTMLElement {
  const parts = [
    // Of a job with a diagram the verdict stands above it.
    found.scheduled ? h("p", { class: "job-sentence" }, found.sentence) : null,
    storagePart(found, ramp, links),
    lines("Events meanwhile", "job-events", found.events.map((one) => h("a", { href: links.event(one.id) }, one.text))),
    found.load === null ? null : loadPart(found.load, links),
    lines("Run time and counters", "job-counters", [...found.run_time, ...found.own_io]),
    lines("Scheduler", "job-about", found.about),
  ];
  return h("div", { class: "job-beside" }, ...parts);
}
