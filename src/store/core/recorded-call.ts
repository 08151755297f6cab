/** What a script did to a bucket, as tests look at it. */
import { methodNames } from "./methods.ts";
import type { Operation, Outcome, Result } from "./operations.ts";

export interface Call {
  /** The bucket's name */
  readonly bucket: string;
  readonly method: CallMethod;
  /** The prefix, for a listing */
  readonly key: string;
  /** All keys of a deletion; one for everything else */
  readonly keys: readonly string[];
  /** How much content went in or came out */
  readonly bytes: number;
  /** `"none"`: there is no such object, or a condition did not hold */
  readonly outcome: "ok" | "none" | "error";
  /** With the outcome `"error"` */
  readonly code?: number;
}

/** As the interface of buckets names them. */
export type CallMethod =
  | "head"
  | "get"
  | "put"
  | "delete"
  | "list"
  | "createMultipartUpload"
  | "uploadPart"
  | "completeMultipartUpload"
  | "abortMultipartUpload"
  | "listMultipartUploads"
  | "listParts";

export const callMethods: ReadonlySet<string> = new Set<CallMethod>(
  Object.values(methodNames).filter((name) => name !== "stats"),
);

/** `null` for what no script can do. */
export function callMethod({ method }: Operation): CallMethod | null {
  const name = methodNames[method];
  return name === "stats" ? null : name;
}

export function keysOf(operation: Operation): readonly string[] {
  if ("key" in operation) return [operation.key];
  if ("keys" in operation) return operation.keys;
  return "prefix" in operation ? [operation.prefix] : [];
}

export function describeCall(bucket: string, operation: Operation, outcome: Outcome): Call | null {
  const method = callMethod(operation);
  if (method === null) return null;
  const keys = keysOf(operation);
  return {
    bucket,
    method,
    key: keys[0] ?? "",
    keys,
    bytes: bytesOf(operation, outcome),
    ...(outcome.ok
      ? {
          outcome:
            outcome.value === null && method !== "delete" && method !== "abortMultipartUpload"
              ? "none"
              : "ok",
        }
      : { outcome: "error", code: outcome.code }),
  };
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
