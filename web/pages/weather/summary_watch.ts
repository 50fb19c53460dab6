// What all targets amount to, as the server says it: asked for again while targets change, now and then.
import { get, paramsOf } from "../../api/get.ts";

const EVERY_MS = 5000;

export class SummaryWatch {
  counts = "";
  /** This node or the storage, where the server says so. */
  fleet = "";
  private asked = -Infinity;
  private readonly zone: () => string | null;
  private readonly changed: () => void;

  constructor(zone: () => string | null, changed: () => void) {
    this.zone = zone;
    this.changed = changed;
  }

  /** Targets changed: the summary may have, too. */
  look(): void {
    const now = performance.now();
    if (now - this.asked < EVERY_MS) return;
    this.asked = now;
    get("api/status", paramsOf({ limit: 1, zone: this.zone() }), new AbortController().signal)
      .then(({ summary, fleet }) => {
        this.counts = summary;
        this.fleet = fleet?.sentence ?? "";
        this.changed();
      })
      .catch(() => undefined); // the feed says what is wrong
  }
}
