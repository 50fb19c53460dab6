// What all targets amount to, as the server says it: asked for again while targets change, now and then.
import { fetchSummary } from "../../api/about.ts";
import type { Summary } from "../../api/about.ts";

const EVERY_MS = 5000;

export class SummaryWatch {
  summary: Summary = { counts: "", fleet: "" };
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
    fetchSummary(this.zone(), new AbortController().signal)
      .then((summary) => {
        this.summary = summary;
        this.changed();
      })
      .catch(() => undefined); // the feed says what is wrong
  }
}
