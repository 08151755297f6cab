/** The rate of a transfer over the last seconds, and the time that is left. */

const windowMilliseconds = 5000;
/** A rate over less time jumps too much to be useful. */
const shortestMilliseconds = 500;

export class TransferRate {
  /** The number of bytes at a time; ascending. */
  #samples: { readonly at: number; readonly bytes: number }[] = [];

  /** @param bytes all bytes that have been sent; fewer than before when a part has to be sent again */
  add(at: number, bytes: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && bytes < last.bytes) this.#samples = [];
    // The last sample outside of the window stays, so that the whole window is measured.
    while (this.#samples.length > 1 && (this.#samples[1]?.at ?? at) <= at - windowMilliseconds) {
      this.#samples.shift();
    }
    this.#samples.push({ at, bytes });
  }

  /** Forgets the past, so that a pause does not count as a slow transfer. */
  reset(): void {
    this.#samples = [];
  }

  /** @returns `null` while the rate is not known */
  bytesPerSecond(at: number): number | null {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return null;
    const milliseconds = at - first.at;
    if (milliseconds < shortestMilliseconds) return null;
    return ((last.bytes - first.bytes) / milliseconds) * 1000;
  }
}

/** @returns `null` while the time is not known */
export function secondsLeft(bytesLeft: number, bytesPerSecond: number | null): number | null {
  if (bytesPerSecond === null || bytesPerSecond <= 0) return null;
  return bytesLeft / bytesPerSecond;
}
