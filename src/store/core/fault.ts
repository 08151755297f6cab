/**
 * Faults that a test injects into calls of buckets.
 *
 * A test describes a fault by a `FaultTarget` (which calls) and a `FaultEffect` (what happens to
 * them). `makeStoreFault` checks both and makes a `StoreFault`, plain data that travels to the
 * runtime. There an `ArmedFault` decides for each call whether the fault hits the call; every hit
 * is recorded as an `InjectedFault`.
 */
import { toMilliseconds, type Duration } from "../../base/format.ts";
import {
  FaultSchedule,
  timingFields,
  toScheduleOptions,
  type FaultScheduleOptions,
  type FaultTiming,
  matchesPattern,
  toPlainPattern,
  type PlainPattern,
  type TextPattern,
} from "../../base/fault-schedule.ts";
import { nearest, unknownWord } from "../../base/nearest.ts";
import {
  callMethods,
  callNames,
  storeErrorTable,
  type CallMethod,
  type StoreErrorCode,
} from "./errors.ts";
import type { AnswerFault, Operation, Outcome, Result, ObjectDescription } from "./operations.ts";

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
  /** By which a test in the pool knows its fault */
  readonly id?: number;
}

export interface InjectedFault extends Pick<Call, "bucket" | "method" | "key"> {
  /** The number of the call among the calls that the fault matches, from 1 */
  readonly nth: number;
  readonly when: "before" | "after";
  readonly effect: FaultEffect;
}

export interface UnusedFault {
  /** As the test has written it: `fail({ method: "put" })` */
  readonly text: string;
  readonly matches: number;
  readonly id?: number;
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

export function checkFields(target: object, kind: string, known: readonly string[]): void {
  for (const field of Object.keys(target)) {
    if (known.includes(field)) continue;
    throw new TypeError(unknownWord(`field of faults.${kind}()`, field, known));
  }
}

/** A fault as a test has written it: `fail({ method: "put" })`. */
export function showFault(kind: string, target: object): string {
  const fields = Object.entries(target)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value instanceof RegExp ? value : JSON.stringify(value)}`);
  return fields.length === 0 ? `${kind}()` : `${kind}({ ${fields.join(", ")} })`;
}

export function unknownBucketText(
  name: string,
  bucketNames: readonly string[],
  consequence?: string,
): string {
  const guess = nearest(name, bucketNames);
  return (
    `No script has a bucket "${name}"${consequence === undefined ? "" : `, so ${consequence}`}. ` +
    (guess === null ? "" : `Did you mean "${guess}"? `) +
    `Buckets: ${bucketNames.join(", ") || "none"}.`
  );
}

/** A fault in force, with the number of calls that it has matched and hit. */
export class ArmedFault {
  readonly fault: StoreFault;
  readonly #schedule: FaultSchedule;
  #matches = 0;
  hits = 0;

  constructor(fault: StoreFault) {
    this.fault = fault;
    // JSON has no `Infinity`, and carries `null` instead.
    const times = (fault.times as number | null) ?? Infinity;
    this.#schedule = new FaultSchedule({ ...fault, times });
  }

  /** The number of the call among the matching calls, if the fault hits the call. */
  hit(call: Pick<Call, "bucket" | "method" | "keys">): number | null {
    const { bucket, key, methods } = this.fault;
    if (bucket !== null && bucket !== call.bucket) return null;
    if (methods !== null && !methods.includes(call.method)) return null;
    if (key !== null && !call.keys.some((each) => matchesPattern(key, each))) return null;
    this.#matches++;
    const nth = this.#schedule.countCall();
    if (nth !== null) this.hits++;
    return nth;
  }

  /** `null` if the fault has hit a call. */
  get unused(): UnusedFault | null {
    const { text, id } = this.fault;
    return this.hits > 0 ? null : { text, matches: this.#matches, id };
  }
}

/** What faults do to an operation. */
export function injectFaults(
  faults: readonly ArmedFault[],
  bucket: string,
  operation: Operation,
): InjectedFault[] {
  const method = callNames[operation.method];
  if (method === undefined) return [];
  const keys = keysOf(operation);
  return hitByAll(
    faults,
    ({ fault }) => fault.effect.kind,
    (armed) => {
      const nth = armed.hit({ bucket, method, keys });
      const { effect, when } = armed.fault;
      return nth === null ? null : { bucket, method, key: keys[0] ?? "", nth, when, effect };
    },
  );
}

/**
 * Every `slow` that hits a call, and the first of the other faults. The faults behind it do not count
 * the call: "once this error, then that error" is two faults with `times: 1`.
 */
export function hitByAll<Fault, Injected>(
  faults: readonly Fault[],
  kindOf: (fault: Fault) => FaultEffect["kind"],
  hit: (fault: Fault) => Injected | null,
): Injected[] {
  const all: Injected[] = [];
  let isLost = false;
  for (const fault of faults) {
    const isSlow = kindOf(fault) === "slow";
    if (isLost && !isSlow) continue;
    const injected = hit(fault);
    if (injected === null) continue;
    isLost ||= !isSlow;
    all.push(injected);
  }
  return all;
}

/** The report of a failed test, from a line for each injected fault; empty without faults. */
export function describeFaults(
  injected: readonly string[],
  unused: readonly UnusedFault[],
): string {
  const lists = {
    "Injected faults": injected,
    "Faults that hit no call": unused.map(describeUnused),
  };
  return Object.entries(lists)
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [`${title}:`, ...lines].join("\n  "))
    .join("\n\n");
}

export function describeInjectedFault({ bucket, method, key, effect, nth }: InjectedFault): string {
  return `${method} of "${key}" in "${bucket}" ${describeEffect(effect)} (call ${nth} that the fault matches)`;
}

export function describeUnused({ text, matches }: UnusedFault): string {
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

/** What a bucket does with an operation that a fault hits. */
export interface Decision {
  readonly execute: boolean;
  /** Replaces the outcome of the bucket. */
  readonly replacement?: Outcome;
  readonly fault?: AnswerFault;
}

/** The outcome of an operation that is not executed. Its fault hides it from the caller. */
export const notExecuted: Outcome = { ok: false, code: 10001, text: "Not executed" };

/** The delays add up, and then the call fails, if one of the faults makes it fail. */
export function decideFaults(
  operation: Operation,
  injected: readonly Pick<StoreFault, "effect" | "when">[],
): Decision {
  let delayMilliseconds = 0;
  let decision: Decision = { execute: true };
  for (const fault of injected) {
    if (fault.effect.kind === "slow") delayMilliseconds += fault.effect.milliseconds;
    else decision = decideFault(operation, { ...fault, effect: fault.effect });
  }
  return delayMilliseconds === 0
    ? decision
    : { ...decision, fault: { ...decision.fault, delayMilliseconds } };
}

function decideFault(
  { method }: Operation,
  { effect, when }: { effect: Exclude<FaultEffect, { kind: "slow" }>; when: StoreFault["when"] },
): Decision {
  switch (effect.kind) {
    case "fail": {
      const replacement = { ok: false, code: effect.code, text: effect.text } as Outcome;
      return { execute: when === "after", replacement };
    }
    case "drop":
      if (method === "get") {
        return { execute: true, fault: { lost: { afterBytes: effect.afterBytes ?? -1 } } };
      }
      return when === "after"
        ? { execute: true, fault: { lost: "answer" } }
        : { execute: false, replacement: notExecuted, fault: { lost: "answer" } };
  }
}

/** A call of a bucket, as tests inspect it. */
export interface Call {
  readonly bucket: string;
  readonly method: CallMethod;
  /** For `list`, the prefix */
  readonly key: string;
  /** All keys of a `delete`; otherwise one key */
  readonly keys: readonly string[];
  /** The size of the content that was written or read */
  readonly bytes: number;
  /** `"none"`: no such object exists, or a condition did not hold */
  readonly outcome: "ok" | "none" | "error";
  readonly code?: number;
}

export function keysOf(operation: Operation): readonly string[] {
  if ("key" in operation) return [operation.key];
  if ("keys" in operation) return operation.keys;
  return "prefix" in operation ? [operation.prefix] : [];
}

export function describeCall(bucket: string, operation: Operation, outcome: Outcome): Call | null {
  const method = callNames[operation.method];
  if (method === undefined) return null;
  const keys = keysOf(operation);
  const call = { bucket, method, key: keys[0] ?? "", keys, bytes: bytesOf(operation, outcome) };
  if (!outcome.ok) return { ...call, outcome: "error", code: outcome.code };
  const hasResult = method !== "delete" && method !== "abortMultipartUpload";
  return { ...call, outcome: hasResult && outcome.value === null ? "none" : "ok" };
}

function bytesOf(operation: Operation, outcome: Outcome): number {
  if ("content" in operation) {
    const { content } = operation;
    return "blob" in content ? content.size : content.bytes.length;
  }
  if (operation.method !== "get" || !outcome.ok) return 0;
  const got = outcome.value as Result<"get">;
  return got?.status === "found" ? got.range.length : 0;
}

/** An object that a test writes to a bucket directly, without the script. */
export interface SeedObject extends Partial<ObjectDescription> {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** An object that a test reads from a bucket directly. */
export type FixtureObject = Required<Omit<SeedObject, "storageClass" | "ssecKeyMd5">>;

/**
 * A fault has lost the answer of a call. A server between the store and a client ends the client's
 * connection, as if the connection had been lost there.
 */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";

  constructor() {
    super("Network connection lost.");
  }
}
