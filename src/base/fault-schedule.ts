/**
 * Which calls a fault hits: those that match its pattern, by its schedule.
 *
 * The decision depends only on the order of the calls and, where a probability is given, on a
 * seeded generator. The same test fails the same calls in every run.
 */
export interface FaultScheduleOptions {
  /** The first matching call that the fault hits, counted from 1. */
  readonly first: number;
  /** The number of matching calls, from the first on, that the fault may hit. */
  readonly times: number;
  /** The probability with which the fault hits each of these calls: 1 by default. */
  readonly probability?: number;
  /** The seed of the generator behind `probability`: 1 by default. */
  readonly seed?: number;
}

/** How a test says which of the matching calls a fault hits. */
export interface FaultTiming {
  /** Only the nth matching call, counted from 1 */
  nth?: number;
  /** Only this many matching calls, from the first (or the nth) on */
  times?: number;
  /** The probability, from 0 to 1, with which the fault hits each matching call */
  probability?: number;
  /** The seed of the generator behind `probability`: 1 by default */
  seed?: number;
}

export const timingFields = [
  "nth",
  "times",
  "probability",
  "seed",
] as const satisfies (keyof FaultTiming)[];

/** @throws TypeError that names the wrong field */
export function toScheduleOptions(given: FaultTiming): Required<FaultScheduleOptions> {
  const { nth, times, probability = 1, seed = 1 } = given;
  for (const [name, value] of Object.entries({ nth, times })) {
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue;
    throw new TypeError(`"${name}" is ${value}: give a whole number from 1.`);
  }
  if (!(probability >= 0 && probability <= 1)) {
    throw new TypeError(`"probability" is ${probability}: give a number from 0 to 1.`);
  }
  return { first: nth ?? 1, times: times ?? (nth === undefined ? Infinity : 1), probability, seed };
}

export class FaultSchedule {
  readonly #options: Required<FaultScheduleOptions>;
  readonly #random: () => number;
  #count = 0;

  constructor({ probability = 1, seed = 1, ...calls }: FaultScheduleOptions) {
    this.#options = { probability, seed, ...calls };
    this.#random = mulberry32(seed);
  }

  /** Counts a matching call. Returns its number, from 1, if the fault hits the call. */
  countCall(): number | null {
    const { first, times, probability } = this.#options;
    const count = ++this.#count;
    // Drawn for every call, so that `first` and `times` do not change which later calls are hit.
    const drawn = this.#random() < probability;
    return drawn && count >= first && count < first + times ? count : null;
  }
}

/** Mulberry32: a small generator with the same sequence on every platform. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Matches keys and paths: text in which `*` stands for any characters, or a regular expression. RPC and
 * Miniflare's proxy do not carry a `RegExp`, so a pattern travels as a `PlainPattern`.
 */
export type TextPattern = string | RegExp;

export interface PlainPattern {
  readonly source: string;
  readonly flags: string;
}

export function toPlainPattern(pattern: TextPattern): PlainPattern {
  // The flags `g` and `y` would make a match depend on the match before it.
  if (pattern instanceof RegExp) {
    return { source: pattern.source, flags: pattern.flags.replaceAll(/[gy]/g, "") };
  }
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  return { source: `^${parts.join(".*")}$`, flags: "s" };
}

export function matchesPattern({ source, flags }: PlainPattern, text: string): boolean {
  return new RegExp(source, flags).test(text);
}
