/**
 * Faults that a test injects into calls of buckets.
 *
 * A test describes a fault by a `FaultTarget` (which calls) and a `FaultEffect` (what happens to
 * them). `makeStoreFault` checks both and makes a `StoreFault`, plain data that travels to the
 * runtime. There an `ArmedFault` decides for each call whether the fault hits the call; every hit
 * is recorded as an `InjectedFault`.
 */
import { toMilliseconds, type Duration } from "../../base/duration.ts";
import {
  FaultSchedule,
  timingFields,
  toScheduleOptions,
  type FaultScheduleOptions,
  type FaultTiming,
} from "../../base/fault-schedule.ts";
import {
  matchesPattern,
  toPlainPattern,
  type PlainPattern,
  type TextPattern,
} from "../../base/text-pattern.ts";
import { nearest } from "../../base/nearest.ts";
import { storeErrorTable, type StoreErrorCode } from "./errors.ts";
import { callMethods, type Call, type CallMethod } from "./recorded-call.ts";

/** Which calls a fault hits: the calls that match every given field. */
export interface FaultTarget extends FaultTiming {
  /** The bucket's name, as in the configuration file */
  bucket?: string;
  /** `"images/*.png"`, or a regular expression. For `list`, the pattern is compared with the prefix. */
  key?: TextPattern;
  method?: CallMethod | CallMethod[];
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
  /** As the test has written it: `fail({ method: "put" })` */
  readonly text: string;
}

/** What a fault did to a call. */
export interface InjectedFault extends Pick<Call, "bucket" | "method" | "key"> {
  /** The number of the call among the calls that the fault matches, from 1 */
  readonly nth: number;
  readonly when: "before" | "after";
  readonly effect: FaultEffect;
}

/** A fault that has hit no call. */
export interface UnusedFault {
  /** As the test has written it: `fail({ method: "put" })` */
  readonly text: string;
  /** The number of calls that match the fault. */
  readonly matches: number;
}

export function failEffect(code: number = 10001, text?: string): FaultEffect & { kind: "fail" } {
  return { kind: "fail", code, text: text ?? errorText(code) };
}

function errorText(code: number): string {
  if (code in storeErrorTable) return storeErrorTable[code as StoreErrorCode].text;
  throw new TypeError(
    `No error of the store has the code ${code}. Give a code that docs/store.md lists, or give a text too.`,
  );
}

export function slowEffect(duration: Duration): FaultEffect {
  return { kind: "slow", milliseconds: toMilliseconds(duration) };
}

const targetFields = [
  "bucket",
  "key",
  "method",
  ...timingFields,
  "when",
] as const satisfies (keyof FaultTarget)[];

/** The fields that describe an effect. */
const effectFields = {
  fail: ["code", "text"],
  slow: ["by"],
  drop: ["afterBytes"],
} satisfies Record<FaultEffect["kind"], string[]>;

/** @throws TypeError that names the wrong field */
export function makeStoreFault(target: FaultTarget, effect: FaultEffect): StoreFault {
  checkFields(target, effect.kind, [...targetFields, ...effectFields[effect.kind]]);
  const { bucket, key, method, when = "before" } = target;
  const methods = method === undefined ? null : [method].flat();
  for (const each of methods ?? []) {
    if (callMethods.has(each)) continue;
    throw new TypeError(`"${each}" is no method of a bucket. Use ${[...callMethods].join(", ")}.`);
  }
  return {
    bucket: bucket ?? null,
    key: key === undefined ? null : toPlainPattern(key),
    methods,
    ...toScheduleOptions(target),
    when,
    effect,
    text: showFault(effect.kind, target),
  };
}

/** @throws TypeError that names a field that is not known */
export function checkFields(target: object, kind: string, known: readonly string[]): void {
  for (const field of Object.keys(target)) {
    if (known.includes(field)) continue;
    const guess = nearest(field, known);
    throw new TypeError(
      `"${field}" is no field of faults.${kind}(). ` +
        (guess === null ? `Use ${known.join(", ")}.` : `Did you mean "${guess}"?`),
    );
  }
}

/** A fault as a test has written it: `fail({ method: "put" })`. */
export function showFault(kind: string, target: object): string {
  const fields = Object.entries(target)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value instanceof RegExp ? value : JSON.stringify(value)}`);
  return fields.length === 0 ? `${kind}()` : `${kind}({ ${fields.join(", ")} })`;
}

/** Why a fault cannot hit any call. */
export function unknownBucketText(name: string, bucketNames: readonly string[]): string {
  const guess = nearest(name, bucketNames);
  return (
    `No script has a bucket "${name}", so the fault would hit no call. ` +
    (guess === null ? "" : `Did you mean "${guess}"? `) +
    `Buckets: ${bucketNames.join(", ") || "none"}.`
  );
}

/** A fault in force, with its count of matching calls. */
export class ArmedFault {
  readonly fault: StoreFault;
  readonly #schedule: FaultSchedule;
  #matches = 0;
  #hasHit = false;

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
    this.#matches++;
    const nth = this.#schedule.countCall();
    this.#hasHit ||= nth !== null;
    return nth;
  }

  /** `null` if the fault has hit a call. */
  get unused(): UnusedFault | null {
    return this.#hasHit ? null : { text: this.fault.text, matches: this.#matches };
  }
}

/**
 * The report of a failed test; empty if the test has no faults.
 *
 * @param injected a line for each injected fault
 */
export function describeFaults(
  injected: readonly string[],
  unused: readonly UnusedFault[],
): string {
  return [
    describeList("Injected faults", injected),
    describeList("Faults that hit no call", unused.map(describeUnusedFault)),
  ]
    .filter((list) => list !== "")
    .join("\n\n");
}

function describeList(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : [`${title}:`, ...lines.map((line) => `  ${line}`)].join("\n");
}

export function describeInjectedFault({ bucket, method, key, effect, nth }: InjectedFault): string {
  return `${method} of "${key}" in "${bucket}" ${describeEffect(effect)} (call ${nth} that the fault matches)`;
}

function describeUnusedFault({ text, matches }: UnusedFault): string {
  const calls = matches === 1 ? "1 call matches" : `${matches} calls match`;
  return `faults.${text}: ${matches === 0 ? "no call matches" : `${calls}, none was hit`}`;
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
