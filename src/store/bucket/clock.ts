/**
 * The store's clock: the machine's time, plus an offset that a test sets.
 *
 * All buckets of a runtime live in one isolate and share one clock.
 */
export const storeClock = {
  /** How far this clock is ahead of the machine's. */
  offsetMilliseconds: 0,

  /** Milliseconds since the epoch */
  now(): number {
    return Date.now() + this.offsetMilliseconds;
  },

  /** The machine's time at which this clock shows `time`. */
  machineTime(time: number): number {
    return time - this.offsetMilliseconds;
  },
};
