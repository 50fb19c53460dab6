// The page of the simulated queue: turn its parameters, see what reads and writes get.
import { Latest } from "../../api/latest.ts";
import { get, urlOf } from "../../api/get.ts";
import { simulateParams } from "../../api/simulate.ts";
import type { SimulateQuery } from "../../api/simulate.ts";
import { h, setAttribute, setText } from "../../components/shared/dom.ts";
import { ErrorLine } from "../../components/shared/error_line.ts";
import { saveMenu } from "../../components/shared/save_menu.ts";
import { tableOf } from "../../components/shared/table.ts";
import { KnobPanel } from "../../components/simulate/knobs.ts";
import { Traces } from "../../components/simulate/traces.ts";
import type { RoomPage } from "../shared/room_page.ts";
import { readSimulateAddress, simulateAddress, START } from "./address.ts";

/** A slider that moves asks no more often than this; the server answers in some milliseconds. */
const REST_MS = 40;

export class SimulatePage implements RoomPage {
  readonly element: HTMLElement;
  private readonly sentence = h("p", { class: "view", role: "status" });
  private readonly error = new ErrorLine();
  private readonly files = h("div", { class: "files" });
  private readonly table = h("div", {});
  private readonly traces = new Traces();
  private readonly knobs: KnobPanel;
  private query: SimulateQuery = START;
  private asked = "";
  private readonly asking = new Latest();
  private timer = 0;

  constructor() {
    this.knobs = new KnobPanel(START, (query) => this.turned(query));
    this.element = h(
      "section",
      { class: "simulate-page", "aria-labelledby": "simulate-title" },
      h("div", { class: "detail-head" }, h("div", {}, h("h2", { id: "simulate-title" }, "Simulate"), this.sentence), this.files),
      this.error.element,
      h("div", { class: "simulate-body" }, this.knobs.element, h("div", { class: "simulate-drawn surface" }, this.traces.element, this.table)),
      h("p", { class: "hint" }, "The storage executes one operation in N ticks, from a queue with room for M. A write ends when it is in the queue, a read when it is executed. A process waits 1,000 ticks, reads, computes 1,000 ticks, writes: 300 operations in all. Writers begin after 30% of the time."),
    );
  }

  /** Shows what an address says; asks for nothing that is there already. */
  show(hash: string): void {
    const query = readSimulateAddress(hash);
    if (query === null) return;
    document.title = "Simulate - iosonde";
    this.query = query;
    this.knobs.show(query);
    if (simulateParams(query).toString() !== this.asked) void this.load();
  }

  close(): void {
    window.clearTimeout(this.timer);
    this.asking.stop();
    this.traces.destroy();
  }

  /** The picture follows a slider at once; Back does not go through all its places. */
  private turned(query: SimulateQuery): void {
    this.query = query;
    history.replaceState(null, "", simulateAddress(query));
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.load(), REST_MS);
  }

  private async load(): Promise<void> {
    const { query } = this;
    this.asked = simulateParams(query).toString();
    const signal = this.asking.next();
    try {
      const found = await get("api/simulate", simulateParams(query), signal);
      if (signal.aborted) return;
      this.error.hide();
      setText(this.sentence, found.sentence);
      this.traces.show(found);
      this.table.replaceChildren(tableOf(found.table, "Clients"));
      this.files.replaceChildren(saveMenu("the traces", "their numbers", (more) => urlOf("api/simulate", simulateParams(query, more))));
      setAttribute(this.element, "data-loaded", this.asked);
    } catch (error) {
      if (signal.aborted) return;
      this.asked = "";
      this.error.show(error);
    }
  }
}
