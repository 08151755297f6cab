/**
 * The store's clock: the machine's time, plus an offset that a test sets.
 *
 * All buckets of a runtime live in one isolate and share one clock.
 */
export interface Clock {
  /** Milliseconds since the epoch */
  now(): number;
}

export class MovableClock implements Clock {
  /** How far this clock is ahead of the machine's. */
  offsetMilliseconds = 0;

  now(): number {
    return Date.now() + this.offsetMilliseconds;
  }

  advance(milliseconds: number): void {
    this.offsetMilliseconds += milliseconds;
  }

  reset(): void {
    this.offsetMilliseconds = 0;
  }

  /** The machine's time at which this clock shows `time`. */
  machineTime(time: number): number {
    return time - this.offsetMilliseconds;
  }
}

export const storeClock = new MovableClock();
