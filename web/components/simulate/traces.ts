// The traces of a simulation: how many operations wait, then what the storage executes for each client. One cursor for all.
import type { ClientTrace, Simulated } from "../../api/generated.ts";
import { roundUp, stairs } from "../../charts/simulate/stairs.ts";
import type { Box } from "../../charts/simulate/stairs.ts";
import { h, setAttribute, setText, svg } from "../shared/dom.ts";

const LEFT = 52;
const RIGHT = 10;
const HEIGHT = 66;
const TOP = 6;
const percent = (share: number): string => `${Math.round(100 * share)}%`;

interface Row {
  readonly name: string;
  readonly spoken: string;
  readonly most: number;
  readonly label: (value: number) => string;
  readonly lines: readonly { readonly role: string; readonly levels: readonly (number | null)[] }[];
  readonly limit: number | null;
}

export class Traces {
  readonly element: HTMLElement;
  private readonly plot = h("div", { class: "traces-plot", tabindex: "0", role: "group", "aria-roledescription": "chart" });
  private readonly reading = h("p", { class: "traces-reading", role: "status" }, "\u00a0");
  private readonly watch = new ResizeObserver(() => this.draw());
  private cursors: SVGElement[] = [];
  private found: Simulated | null = null;
  private at: number | null = null;

  constructor() {
    this.element = h("div", { class: "traces" }, key(), this.plot, this.reading);
    this.plot.addEventListener("pointermove", (event) => this.pointed(event.clientX));
    this.plot.addEventListener("pointerleave", () => this.point(null));
    this.plot.addEventListener("blur", () => this.point(null));
    this.plot.addEventListener("keydown", (event) => this.key(event));
    this.watch.observe(this.plot);
  }

  show(found: Simulated): void {
    this.found = found;
    setAttribute(this.plot, "aria-label", `${found.sentence} Arrow keys go over time.`);
    this.draw();
  }

  destroy(): void {
    this.watch.disconnect();
  }

  private draw(): void {
    const { found } = this;
    const width = this.plot.clientWidth;
    if (found === null || width <= 0) return;
    const rows = rowsOf(found);
    this.cursors = [];
    this.plot.replaceChildren(
      ...rows.map((row, i) => h("section", { class: "trace", "data-row": row.name }, h("h3", {}, row.name), this.picture(row, width, i === rows.length - 1 ? found : null))),
    );
    this.point(this.at);
  }

  private picture(row: Row, width: number, axis: Simulated | null): SVGElement {
    const box: Box = { left: LEFT, top: TOP, width: width - LEFT - RIGHT, height: HEIGHT };
    const bottom = TOP + HEIGHT;
    const picture = svg("svg", { width: String(width), height: String(bottom + (axis === null ? 4 : 22)), role: "img", "aria-label": row.spoken });
    for (const share of [0, 0.5, 1]) {
      const y = String(bottom - HEIGHT * share);
      picture.append(svg("line", { class: "chart-grid", x1: String(LEFT), x2: String(width - RIGHT), y1: y, y2: y }));
      picture.append(svg("text", { class: "chart-tick", x: String(LEFT - 6), y, dy: "0.35em", "text-anchor": "end" }, row.label(row.most * share)));
    }
    if (row.limit !== null) {
      const y = String(bottom - (HEIGHT * row.limit) / row.most);
      picture.append(svg("line", { class: "trace-limit", x1: String(LEFT), x2: String(width - RIGHT), y1: y, y2: y }));
    }
    for (const { role, levels } of row.lines) picture.append(svg("path", { class: `trace-line trace-${role}`, d: stairs(levels, row.most, box) }));
    const cursor = svg("line", { class: "chart-cursor", y1: String(TOP), y2: String(bottom), visibility: "hidden" });
    this.cursors.push(cursor);
    picture.append(cursor);
    if (axis !== null) picture.append(...timeAxis(axis, box));
    return picture;
  }

  private pointed(clientX: number): void {
    if (this.found === null) return;
    const { left, width } = this.plot.getBoundingClientRect();
    const share = (clientX - left - LEFT) / (width - LEFT - RIGHT);
    this.point(share < 0 || share > 1 ? null : this.bin(share * this.found.most_waiting.length));
  }

  private bin(place: number): number {
    return Math.max(0, Math.min((this.found?.most_waiting.length ?? 1) - 1, Math.floor(place)));
  }

  private key(event: KeyboardEvent): void {
    const { found } = this;
    if (found === null) return;
    const last = found.most_waiting.length - 1;
    const step = event.shiftKey ? 10 : 1;
    const moves: Record<string, number | null> = {
      ArrowLeft: this.at === null ? last : this.at - step,
      ArrowRight: this.at === null ? 0 : this.at + step,
      Home: 0,
      End: last,
      Escape: null,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const to = moves[event.key] ?? null;
    this.point(to === null ? null : this.bin(to));
  }

  private point(bin: number | null): void {
    const { found } = this;
    this.at = bin === null || found === null ? null : this.bin(bin);
    const inner = this.plot.clientWidth - LEFT - RIGHT;
    for (const cursor of this.cursors) {
      const x = this.at === null || found === null ? "0" : String(LEFT + (inner * (this.at + 0.5)) / found.most_waiting.length);
      for (const name of ["x1", "x2"]) setAttribute(cursor, name, x);
      setAttribute(cursor, "visibility", this.at === null ? "hidden" : "visible");
    }
    setText(this.reading, this.at === null || found === null ? "\u00a0" : readingAt(found, this.at));
  }
}

function rowsOf(found: Simulated): Row[] {
  const most = roundUp(Math.max(1, ...found.most_waiting));
  const waiting: Row = {
    name: "Operations in the storage",
    spoken: found.sentence,
    most,
    label: (value) => value.toLocaleString("en"),
    lines: [{ role: "waiting", levels: found.most_waiting }],
    limit: found.queue !== null && found.queue <= most ? found.queue : null,
  };
  const client = (one: ClientTrace): Row => ({
    name: one.name,
    spoken: found.say.find((line) => line.startsWith(`${one.name} `)) ?? one.name,
    most: 1,
    label: percent,
    lines: [
      { role: "writes", levels: one.writes },
      { role: "reads", levels: one.reads },
    ],
    limit: null,
  });
  return [waiting, ...found.clients.map(client)];
}

function readingAt(found: Simulated, bin: number): string {
  const from = bin * found.bin_ticks;
  const to = Math.min(from + found.bin_ticks, found.ticks);
  const clients = found.clients.map((one) => {
    const longest = one.longest_read_ticks[bin] ?? null;
    const waits = longest === null ? "" : `, its longest read ${longest.toLocaleString("en")} ticks`;
    return `${one.name}: reads ${percent(one.reads[bin] ?? 0)}, writes ${percent(one.writes[bin] ?? 0)}${waits}`;
  });
  return [`Ticks ${from.toLocaleString("en")} to ${to.toLocaleString("en")}: at most ${(found.most_waiting[bin] ?? 0).toLocaleString("en")} operations in the storage`, ...clients].join("; ");
}

function timeAxis(found: Simulated, box: Box): SVGElement[] {
  const end = found.most_waiting.length * found.bin_ticks;
  const step = roundUp(found.ticks / Math.max(2, Math.floor(box.width / 110)));
  const texts: SVGElement[] = [];
  for (let tick = 0; tick <= found.ticks; tick += step) {
    const x = box.left + (box.width * tick) / end;
    const anchor = tick > 0 && x > box.left + box.width - 24 ? "end" : "middle";
    texts.push(svg("text", { class: "chart-tick", x: x.toFixed(1), y: String(box.top + box.height + 16), "text-anchor": anchor }, tick === 0 ? "tick 0" : tick.toLocaleString("en")));
  }
  return texts;
}

const mark = (role: string, dashed: boolean): SVGElement => svg("svg", { class: "swatch", viewBox: "0 0 26 14", "aria-hidden": "true" }, svg("path", { class: dashed ? "trace-limit" : `trace-line trace-${role}`, d: "M1 7H25" }));

const key = (): HTMLElement =>
  h("ul", { class: "key" }, h("li", {}, mark("reads", false), "reads executed"), h("li", {}, mark("writes", false), "writes executed; 100% is all that the storage can execute"), h("li", {}, mark("limit", true), "room in the queue"));
