/**
 * The store's clock: the machine's, moved by as much as a test asks for.
 *
 * All buckets of a runtime live in one isolate, so this one value is the time of all of them.
 */
export interface Clock {
  /** Milliseconds since the epoch */
  now(): number;
}

export class MovableClock implements Clock {
  /** Milliseconds by which it is ahead of the machine's. */
  offset = 0;

  now(): number {
    return Date.now() + this.offset;
  }

  advance(milliseconds: number): void {
    this.offset += milliseconds;
  }

  reset(): void {
    this.offset = 0;
  }

  /** The machine's time at which this clock will show `time`. */
  machineTime(time: number): number {
    return time - this.offset;
  }
}
