/**
 * A fault of buckets as a form, and as the text of `--fault`:
 *
 *     METHOD:BUCKET[/KEY]:EFFECT[:OPTION,…]
 *
 * Only a key may have colons, so the end of the text is read from the right. The server checks the
 * text; the form has most of what a text can say, and not all.
 */
import { storeErrorTable, callMethods } from "../../../store/core/errors.ts";
import {
  always,
  describeTiming,
  readTiming,
  writeTiming,
  type FaultTimingForm,
} from "./fault-timing.ts";

export interface BucketFaultForm {
  /** Methods with commas, or `*` */
  readonly methods: string;
  /** `*` for all buckets */
  readonly bucket: string;
  /** `*` stands for any characters; empty for all keys. */
  readonly key: string;
  readonly effect: "fail" | "slow" | "drop";
  /** Of the effect "fail" */
  readonly code: string;
  /** Of the effect "slow": `2s` */
  readonly by: string;
  readonly timing: FaultTimingForm;
  /** Whether the bucket executes the call, and only the answer fails. */
  readonly isAfter: boolean;
}

export const firstBucketFault: BucketFaultForm = {
  methods: "put",
  bucket: "*",
  key: "",
  effect: "fail",
  code: "10001",
  by: "2s",
  timing: always,
  isAfter: false,
};

export const writeMethods =
  "put,delete,createMultipartUpload,uploadPart,completeMultipartUpload,abortMultipartUpload";
const readMethods = "get,head,list";

/** What the form offers: groups of methods, and each method. */
export const methodChoices: readonly { readonly value: string; readonly label: string }[] = [
  { value: "*", label: "All methods" },
  { value: readMethods, label: "Reads" },
  { value: writeMethods, label: "Writes" },
  ...Array.from(callMethods, (method) => ({ value: method, label: method })),
];

/** The errors of the store by code: the keys of an object that are integers are in ascending order. */
export const errorChoices: readonly { readonly value: string; readonly label: string }[] =
  Object.entries(storeErrorTable).map(([code, { name }]) => ({
    value: code,
    label: `${code} ${name}`,
  }));

export function writeBucketFault(form: BucketFaultForm): string {
  const { methods, bucket, key, timing, isAfter } = form;
  const options = [...writeTiming(timing), ...(isAfter ? ["when=after"] : [])];
  return [
    methods,
    key === "" ? bucket : `${bucket}/${key}`,
    writeEffect(form),
    ...(options.length === 0 ? [] : [options.join(",")]),
  ].join(":");
}

function writeEffect({ effect, code, by }: BucketFaultForm): string {
  if (effect === "fail") return code;
  return effect === "slow" ? `slow=${by}` : "drop";
}

/** `null` for a text that is no fault of buckets, or says more than the form has. */
export function readBucketFault(text: string): BucketFaultForm | null {
  const [methods, ...parts] = text.split(":") as [string, ...string[]];
  const hasOptions = parts.length > 2 && !isEffect(parts.at(-1) as string);
  const options = hasOptions ? (parts.pop() as string).split(",") : [];
  const effect = parts.pop();
  const place = parts.join(":");
  if (effect === undefined || place === "" || !areMethods(methods)) return null;
  const timing = readTiming(options.filter((option) => option !== "when=after"));
  const effectFields = readEffect(effect);
  if (timing === null || effectFields === null) return null;
  const slash = place.indexOf("/");
  return {
    ...firstBucketFault,
    ...effectFields,
    methods,
    bucket: slash === -1 ? place : place.slice(0, slash),
    key: slash === -1 ? "" : place.slice(slash + 1),
    timing,
    isAfter: options.includes("when=after"),
  };
}

function areMethods(text: string): boolean {
  return text === "*" || text.split(",").every((method) => callMethods.has(method));
}

function isEffect(text: string): boolean {
  return /^(?:\d+|(?:slow|delay|drop)(?:=.*)?)$/s.test(text);
}

function readEffect(text: string): Partial<BucketFaultForm> | null {
  if (/^\d+$/.test(text)) return { effect: "fail", code: text };
  if (text === "drop") return { effect: "drop" };
  const by = /^(?:slow|delay)=(.*)$/s.exec(text)?.[1];
  return by === undefined ? null : { effect: "slow", by };
}

/** What happens, without the names in the text. */
export function describeBucketFault(form: BucketFaultForm): string {
  const { effect, code, by, timing, isAfter } = form;
  const error = errorChoices.find(({ value }) => value === code)?.label ?? code;
  const what = {
    fail: `error ${error}`,
    slow: `${by} longer`,
    drop: "a lost connection",
  }[effect];
  const when = isAfter ? ", after the bucket has executed the call" : "";
  return `${what} for ${describeTiming(timing, "call")}${when}`;
}
