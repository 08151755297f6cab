/**
 * Faults that a test injects into calls of buckets.
 *
 * A test describes a fault by a `FaultTarget` (which calls) and a `FaultEffect` (what happens to
 * them). `makeStoreFault` checks both and makes a `StoreFault`, plain data that travels to the
 * runtime. There an `ArmedFault` decides for each call whether the fault hits the call; every hit
 * is recorded as an `InjectedFault`.
 */
import { toMilliseconds, type Duration } from "../../base/duration.ts";
import { FaultSchedule, type FaultScheduleOptions } from "../../base/fault-schedule.ts";
import {
  matchesPattern,
  toPlainPattern,
  type PlainPattern,
  type TextPattern,
} from "../../base/text-pattern.ts";
import { storeErrorTable, type StoreErrorCode } from "./errors.ts";
import { callMethods, type Call, type CallMethod } from "./recorded-call.ts";

/** Which calls a fault hits: the calls that match every given field. */
export interface FaultTarget {
  /** The bucket's name, as in the configuration file */
  bucket?: string;
  /** `"images/*.png"`, or a regular expression. For `list`, the pattern is compared with the prefix. */
  key?: TextPattern;
  method?: CallMethod | CallMethod[];
  /** Only the nth matching call, counted from 1 */
  nth?: number;
  /** Only this many matching calls, from the first (or the nth) on */
  times?: number;
  /** The probability, from 0 to 1, with which the fault hits each matching call */
  probability?: number;
  /** The seed of the generator behind `probability`: 1 by default */
  seed?: number;
  /** `"after"`: the bucket executes the call, and only the answer fails or is lost. Default: `"before"`. */
  when?: "before" | "after";
}

export type FaultEffect =
  | { readonly kind: "fail"; readonly code: number; readonly text: string }
  | { readonly kind: "slow"; readonly milliseconds: number }
  /** `null`: after half of the bytes */
  | { readonly kind: "drop"; readonly afterBytes: number | null };

/** A fault in the form that travels to the runtime. */
export interface StoreFault extends Required<FaultScheduleOptions> {
  readonly bucket: string | null;
  readonly key: PlainPattern | null;
  readonly methods: readonly CallMethod[] | null;
  readonly when: "before" | "after";
  readonly effect: FaultEffect;
}

/** What a fault did to a call. */
export interface InjectedFault extends Pick<Call, "bucket" | "method" | "key"> {
  readonly effect: FaultEffect;
  /** The number of the call among the calls that the fault matches, from 1 */
  readonly count: number;
}

export function failEffect(code: number = 10001, text?: string): FaultEffect {
  return { kind: "fail", code, text: text ?? errorText(code) };
}

function errorText(code: number): string {
  // The emulated bucket never raises this error (`errors.ts`), but the deployed service does.
  if (code === 10058) return "Reduce your concurrent request rate for the same object.";
  if (code in storeErrorTable) return storeErrorTable[code as StoreErrorCode].text;
  throw new TypeError(
    `No error of the store has the code ${code}. Give a code that docs/store.md lists, or give a text too.`,
  );
}

export function slowEffect(duration: Duration): FaultEffect {
  return { kind: "slow", milliseconds: toMilliseconds(duration) };
}

/** @throws TypeError that names the wrong field */
export function makeStoreFault(target: FaultTarget, effect: FaultEffect): StoreFault {
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

/** A fault in force, with its count of matching calls. */
export class ArmedFault {
  readonly fault: StoreFault;
  readonly #schedule: FaultSchedule;

  constructor(fault: StoreFault) {
    this.fault = fault;
    this.#schedule = new FaultSchedule(fault);
  }

  /** The number of the call among the matching calls, if the fault hits the call. */
  hits(call: Pick<Call, "bucket" | "method" | "keys">): number | null {
    const { bucket, key, methods } = this.fault;
    if (bucket !== null && bucket !== call.bucket) return null;
    if (methods !== null && !methods.includes(call.method)) return null;
    if (key !== null && !call.keys.some((each) => matchesPattern(key, each))) return null;
    return this.#schedule.countCall();
  }
}

export function describeInjectedFault(injected: InjectedFault): string {
  const { bucket, method, key, effect, count } = injected;
  return `${method} of "${key}" in "${bucket}" ${describeEffect(effect)} (call ${count} that the fault matches)`;
}

function describeEffect(effect: FaultEffect): string {
  switch (effect.kind) {
    case "fail":
      return `failed with ${effect.code}`;
    case "slow":
      return `took ${effect.milliseconds} ms longer`;
    case "drop":
      return "lost its connection";
  }
}
