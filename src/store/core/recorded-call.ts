/** Calls of buckets, as tests inspect them. */
import { methodNames } from "./methods.ts";
import type { Operation, Outcome, Result } from "./operations.ts";

export interface Call {
  /** The bucket's name */
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
  /** Only with the outcome `"error"` */
  readonly code?: number;
}

/** The names of the methods in the interface of buckets. */
export type CallMethod = Exclude<(typeof methodNames)[keyof typeof methodNames], InternalMethod>;
type InternalMethod = (typeof internalMethods)[number];

/** The operations that scripts cannot call. */
const internalMethods = [
  "getSettings",
  "putSettings",
  "createBucket",
  "deleteBucket",
  "stats",
  "checkDisk",
] as const;

export const callMethods: ReadonlySet<string> = new Set<CallMethod>(
  Object.values(methodNames).filter(isCallMethod),
);

function isCallMethod(name: CallMethod | InternalMethod): name is CallMethod {
  return !(internalMethods as readonly string[]).includes(name);
}

/** `null` for an operation that scripts cannot call. */
export function callMethodOf({ method }: Operation): CallMethod | null {
  const name = methodNames[method];
  return isCallMethod(name) ? name : null;
}

export function keysOf(operation: Operation): readonly string[] {
  if ("key" in operation) return [operation.key];
  if ("keys" in operation) return operation.keys;
  return "prefix" in operation ? [operation.prefix] : [];
}

export function describeCall(bucket: string, operation: Operation, outcome: Outcome): Call | null {
  const method = callMethodOf(operation);
  if (method === null) return null;
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
