/** Randomness that a failed test can repeat: the seed is printed, and `LEDGE_SEED` sets it. */

/** Whether the long form of the suite runs (`npm run test:long -- faults`). */
export const isLong = process.env["LEDGE_FAULTS"] === "long";

export class SeededRandom {
  readonly seed: number;
  #state: number;

  /** @param name of the test, for the line that names the seed */
  constructor(name: string, seed = Number(process.env["LEDGE_SEED"] ?? Date.now() % 2 ** 31)) {
    this.seed = seed;
    this.#state = seed;
    console.log(`${name}: seed ${seed} (LEDGE_SEED=${seed} repeats the run)`);
  }

  /** A number from 0 up to 1, without 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.integer(0, values.length - 1)] as Value;
  }
}
