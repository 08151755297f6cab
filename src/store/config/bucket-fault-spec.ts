/**
 * Faults of buckets in one line of text, as `--fault` and the explorer take them:
 *
 *     METHOD:BUCKET[/KEY]:EFFECT[:OPTION,…]
 *
 * - METHOD is a method of a bucket, several methods with commas, or `*` for all methods.
 * - BUCKET is the name of a bucket, or `*` for all buckets.
 * - KEY is a key in which `*` stands for any characters; of a `list`, the prefix.
 * - EFFECT is the code of an error (`10001`), `slow=2s` (or `delay=2s`), or `drop`: the connection is
 *   lost, for a `get` in the middle of the body, or after so many bytes (`drop=1000`).
 * - An OPTION is FIELD=VALUE: nth, times, probability, seed, and when=after, which lets the bucket
 *   execute the call before it fails.
 *
 * A key may contain colons, and no other part does. So METHOD ends at the first colon, and the end is
 * read from the right: if the last part is an effect, the fault has no options; otherwise the last part
 * is the options, and the part before it is the effect. No effect looks like an option. All that is
 * left between METHOD and EFFECT is BUCKET and KEY, which the first slash separates.
 *
 *     put:photos/a:10001           the key "a", error 10001
 *     put:photos/a:10001:10001     the key "a:10001", error 10001
 *     put:photos/a:times=2:drop    the key "a:times=2", a lost connection
 */
import { toMilliseconds } from "../../base/format.ts";
import { nearest, unknownWord } from "../../base/nearest.ts";
import { storeErrorTable, callMethods, type CallMethod } from "../core/errors.ts";
import {
  failEffect,
  makeStoreFault,
  slowEffect,
  type FaultEffect,
  type FaultTarget,
  type StoreFault,
} from "../core/fault.ts";
import { latencyMillisecondsMax } from "./store-buckets.ts";

export interface BucketFaultInput {
  /** A key without a regular expression, which no text has. */
  readonly target: Omit<FaultTarget, "key" | "method"> & {
    readonly key?: string;
    readonly method?: CallMethod[];
  };
  readonly effect: FaultEffect;
}

/** Why a text is no fault, as a sentence. */
export class BucketFaultError extends Error {
  override readonly name = "BucketFaultError";
}

const optionFields = ["nth", "times", "probability", "seed", "when"] as const;
const effectWords = ["slow", "delay", "drop"] as const;
const errorCodes = Object.keys(storeErrorTable);

export function parseBucketFault(text: string): BucketFaultInput {
  const [methods, ...rest] = text.split(":") as [string, ...string[]];
  const method = readMethods(methods);
  const end = splitEnd(rest);
  const effect = readEffect(end.effect);
  const target = { ...method, ...readPlace(end.place), ...readOptions(end.options) };
  if (effect.kind === "drop" && effect.afterBytes !== null) requireGet(target.method);
  return { target, effect };
}

/** @param text as the user has written it: reports name the fault by this text */
export function toStoreFault({ target, effect }: BucketFaultInput, text: string): StoreFault {
  return { ...makeStoreFault(target, effect), text };
}

function readMethods(text: string): { method?: CallMethod[] } {
  if (text === "*") return {};
  const methods = text.split(",");
  for (const method of methods) {
    if (callMethods.has(method)) continue;
    throw new BucketFaultError(unknownWord("method of a bucket", method, [...callMethods, "*"]));
  }
  return { method: methods as CallMethod[] };
}

interface FaultEnd {
  readonly place: string;
  readonly effect: string;
  readonly options: string | null;
}

/** @param parts after the method */
function splitEnd(parts: readonly string[]): FaultEnd {
  const last = parts.at(-1) ?? "";
  const beforeLast = parts.at(-2) ?? "";
  if (parts.length > 1 && isEffect(last)) {
    return { place: parts.slice(0, -1).join(":"), effect: last, options: null };
  }
  if (parts.length > 2 && isEffect(beforeLast)) {
    return { place: parts.slice(0, -2).join(":"), effect: beforeLast, options: last };
  }
  if (parts.length === 0 || (parts.length === 1 && (last === "" || isEffect(last)))) {
    throw new BucketFaultError("A fault needs a bucket after the method, or * for all buckets.");
  }
  if (parts.length === 1) throw new BucketFaultError(`A fault needs an effect: ${effectsText}.`);
  const word = wordOf(last);
  const guess = nearest(word, effectWords);
  throw new BucketFaultError(
    `"${last}" is no effect. ` +
      (guess === null ? `Use ${effectsText}.` : `Did you mean "${guess}"?`),
  );
}

const effectsText = "the code of an error such as 10001, slow=2s, or drop";

/** Whether the text has the form of an effect. An option has another word before its `=`. */
function isEffect(text: string): boolean {
  return /^\d+$/.test(text) || (effectWords as readonly string[]).includes(wordOf(text));
}

function wordOf(text: string): string {
  return text.split("=", 1)[0] as string;
}

function readEffect(text: string): FaultEffect {
  if (/^\d+$/.test(text)) {
    if (errorCodes.includes(text)) return failEffect(Number(text));
    throw new BucketFaultError(unknownWord("code of an error of the store", text, errorCodes));
  }
  const word = wordOf(text);
  const value = text.includes("=") ? text.slice(word.length + 1) : undefined;
  if (word === "drop") return { kind: "drop", afterBytes: readBytes(value) };
  return readSlow(word, value);
}

function readBytes(value: string | undefined): number | null {
  if (value === undefined) return null;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new BucketFaultError(`"drop" is "${value}": give a number of bytes, or nothing.`);
}

function readSlow(word: string, value = ""): FaultEffect {
  let milliseconds = NaN;
  try {
    milliseconds = toMilliseconds(value);
  } catch {
    // The sentence below says more.
  }
  const isPossible = milliseconds >= 1 && milliseconds <= latencyMillisecondsMax;
  if (isPossible && Number.isInteger(milliseconds)) return slowEffect(milliseconds);
  throw new BucketFaultError(
    `"${word}" is "${value}": give a length of time such as ${word}=2s or ${word}=500ms, ` +
      `at most ${latencyMillisecondsMax / 1000} seconds.`,
  );
}

function readPlace(text: string): { bucket?: string; key?: string } {
  const slash = text.indexOf("/");
  const bucket = slash === -1 ? text : text.slice(0, slash);
  const key = slash === -1 ? undefined : text.slice(slash + 1);
  if (bucket === "") {
    throw new BucketFaultError("A fault needs a bucket after the method, or * for all buckets.");
  }
  if (key === "") {
    throw new BucketFaultError(
      `"${text}" ends in a slash: write "${bucket}" for all keys, or "${bucket}/KEY", ` +
        "where * stands for any characters.",
    );
  }
  // A bucket's name has no star, so a part of a name would match no bucket.
  if (bucket !== "*" && bucket.includes("*")) {
    throw new BucketFaultError(
      `"${bucket}" is no name of a bucket: give one name, or * for all buckets.`,
    );
  }
  return { bucket: bucket === "*" ? undefined : bucket, key };
}

function readOptions(
  text: string | null,
): Partial<Pick<FaultTarget, (typeof optionFields)[number]>> {
  const options: Record<string, unknown> = {};
  for (const option of text?.split(",") ?? []) {
    const field = wordOf(option);
    const value = option.includes("=") ? option.slice(field.length + 1) : "";
    if (!(optionFields as readonly string[]).includes(field)) {
      throw new BucketFaultError(unknownWord("option of a fault", field, optionFields));
    }
    if (Object.hasOwn(options, field)) throw new BucketFaultError(`"${field}" is given twice.`);
    options[field] = readOption(field, value);
  }
  return options;
}

const numberRules: Record<string, readonly [isValid: (value: number) => boolean, text: string]> = {
  probability: [(value) => value >= 0 && value <= 1, "a number from 0 to 1"],
  seed: [Number.isSafeInteger, "a whole number"],
  nth: [isCount, "a whole number from 1"],
  times: [isCount, "a whole number from 1"],
};

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function readOption(field: string, value: string): number | string {
  const number = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(value) ? Number(value) : NaN;
  const [isValid, expected] = numberRules[field] ?? [() => false, '"before" or "after"'];
  if (isValid(number)) return number;
  if (field === "when" && (value === "before" || value === "after")) return value;
  throw new BucketFaultError(`"${field}" is "${value}": give ${expected}.`);
}

function requireGet(method: readonly CallMethod[] | undefined): void {
  if (method === undefined || method.includes("get")) return;
  throw new BucketFaultError(
    `"drop" with a number of bytes is for the body of a get, and ${method.join(", ")} has none.`,
  );
}
