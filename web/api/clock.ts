// The server's clock as the page sees it: ages and the right edge of "now" must not depend on the browser's clock.
import { unixMs } from "./time.ts";
import type { UnixMs } from "./time.ts";

export class ServerClock {
  private offset: number;
  private readonly monotonic: () => number;

  /** `monotonic`: milliseconds that never jump, performance.now in a browser. */
  constructor(monotonic: () => number, first: UnixMs) {
    this.monotonic = monotonic;
    this.offset = first - monotonic();
  }

  /** The server said it was `asOf`. */
  heard(asOf: UnixMs): void {
    this.offset = asOf - this.monotonic();
  }

  now(): UnixMs {
    return unixMs(this.offset + this.monotonic());
  }
}
