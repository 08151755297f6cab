/**
 * Faults on demand: which calls they meet, and what happens to those.
 *
 * A call is met by the first fault that matches it and whose turn it is. Whose turn it is depends
 * on the order of calls, and on a seeded generator where a probability is asked for: the same test
 * fails the same calls every time.
 */
import { StoreError, storeErrorTable, type StoreErrorCode } from "./errors.ts";
import { callMethods, type CallMethod } from "./recorded-call.ts";
import { toMilliseconds, type Duration } from "../../base/duration.ts";
import {
  matchesPattern,
  toPlainPattern,
  type KeyPattern,
  type PlainPattern,
} from "./key-pattern.ts";

/** Which calls a fault meets: all that match what is given. */
export interface FaultTarget {
  /** The bucket's name, as the configuration has it */
  bucket?: string;
  /** `"images/*.png"`, or a regular expression; the prefix, for a listing */
  key?: KeyPattern;
  method?: CallMethod | CallMethod[];
  /** Only the nth call that matches, counted from 1 */
  nth?: number;
  /** Only so many calls, from the first (or the nth) on */
  times?: number;
  /** Each call with this probability, from 0 to 1 */
  probability?: number;
  /** Of the generator behind `probability`; 1 without it */
  seed?: number;
  /** `"after"` lets the bucket do the work, and only the answer is bad or lost. `"before"` without it. */
  when?: "before" | "after";
}

export type FaultEffect =
  | { readonly kind: "fail"; readonly code: number; readonly text: string }
  | { readonly kind: "slow"; readonly milliseconds: number }
  /** `null`: halfway */
  | { readonly kind: "drop"; readonly afterBytes: number | null };

/** A fault as it travels to the store. */
export interface Fault {
  readonly bucket: string | null;
  readonly key: PlainPattern | null;
  readonly methods: readonly CallMethod[] | null;
  readonly first: number;
  readonly times: number;
  readonly probability: number;
  readonly seed: number;
  readonly when: "before" | "after";
  readonly effect: FaultEffect;
}

/** What a fault did to a call. */
export interface Injection {
  readonly bucket: string;
  readonly method: CallMethod;
  readonly key: string;
  readonly effect: FaultEffect;
  /** Which of the calls that match it was, from 1 */
  readonly count: number;
}

/** The store itself never raises this one (`store/core/errors.ts`), but the deployed service does. */
const tooManyRequests = {
  code: 10058,
  text: "Reduce your concurrent request rate for the same object.",
};

export function failEffect(code: number = 10001, text?: string): FaultEffect {
  return { kind: "fail", code, text: text ?? knownText(code) };
}

function knownText(code: number): string {
  if (code === tooManyRequests.code) return tooManyRequests.text;
  if (code in storeErrorTable) return new StoreError(code as StoreErrorCode).message;
  throw new TypeError(
    `No error of the store has the code ${code}. Give one that docs/store.md lists, or a text with it.`,
  );
}

export function slowEffect(duration: Duration): FaultEffect {
  return { kind: "slow", milliseconds: toMilliseconds(duration) };
}

/** @throws TypeError that says which field is wrong */
export function makeFault(target: FaultTarget, effect: FaultEffect): Fault {
  const { bucket, key, method, nth, times, probability = 1, seed = 1, when = "before" } = target;
  const methods = method === undefined ? null : [method].flat();
  for (const each of methods ?? []) {
    if (callMethods.has(each)) continue;
    throw new TypeError(`"${each}" is no method of a bucket. Use ${[...callMethods].join(", ")}.`);
  }
  for (const [name, value] of Object.entries({ nth, times })) {
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue;
    throw new TypeError(`"${name}" is ${value}: give a whole number from 1.`);
  }
  if (!(probability >= 0 && probability <= 1)) {
    throw new TypeError(`"probability" is ${probability}: give a number from 0 to 1.`);
  }
  return {
    bucket: bucket ?? null,
    key: key === undefined ? null : toPlainPattern(key),
    methods,
    first: nth ?? 1,
    times: times ?? (nth === undefined ? Infinity : 1),
    probability,
    seed,
    when,
    effect,
  };
}

export interface MetCall {
  readonly bucket: string;
  readonly method: CallMethod;
  readonly keys: readonly string[];
}

/** A fault in force, with how often it was met. */
export class ArmedFault {
  readonly fault: Fault;
  readonly #random: () => number;
  #count = 0;

  constructor(fault: Fault) {
    this.fault = fault;
    this.#random = generator(fault.seed);
  }

  /** Which of the matching calls this is, if it is one that the fault meets. */
  meets(call: MetCall): number | null {
    const { bucket, key, methods, first, times, probability } = this.fault;
    if (bucket !== null && bucket !== call.bucket) return null;
    if (methods !== null && !methods.includes(call.method)) return null;
    if (key !== null && !call.keys.some((each) => matchesPattern(key, each))) return null;
    const count = ++this.#count;
    const due = count >= first && count < first + times;
    // Asked for every call, so that one call more or less does not change what the others meet.
    const drawn = this.#random() < probability;
    return due && drawn ? count : null;
  }
}

/** Mulberry32: small, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function describeInjection({ bucket, method, key, effect, count }: Injection): string {
  const what = {
    fail: () => `failed with ${(effect as { code: number }).code}`,
    slow: () => `took ${(effect as { milliseconds: number }).milliseconds} ms longer`,
    drop: () => "lost its connection",
  }[effect.kind]();
  return `${method} of "${key}" in "${bucket}" ${what} (call ${count} that the fault matches)`;
}
