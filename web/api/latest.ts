// Of requests that follow each other only the latest counts.
export class Latest {
  private asking = new AbortController();

  /** The signal of a new request; the one before it is given up. */
  next(): AbortSignal {
    this.stop();
    this.asking = new AbortController();
    return this.asking.signal;
  }

  stop(): void {
    this.asking.abort();
  }
}
