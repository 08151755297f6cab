/**
 * The short form of the most frequent operations: a few plain values. The structured clone of an
 * operation and its outcome takes longer than the bucket takes to execute the operation.
 *
 *     call                            answer
 *     ["head", key]                   text, or null
 *     ["get", key]                    [text, bytes], or null
 *     ["put", key, bytes, md5, rest]  text, or null
 *
 * `rest` is JSON of the other fields of a put, and is absent where all of them have their default.
 * An answer that has no short form (a failure, content in files) travels in its long form.
 */
import type { EncodedObject, Operation, Outcome, Request } from "./operations.ts";

export type ShortCall = readonly [
  method: "head" | "get" | "put",
  key: string,
  bytes?: Uint8Array,
  md5?: string,
  rest?: string | undefined,
];

/** @typeParam Long the long form of an answer */
export type ShortAnswer<Long = Outcome> =
  | EncodedObject
  | null
  | readonly [object: EncodedObject, bytes: ArrayBuffer]
  | Long;

/** `null` for an operation that has no short form. */
export function shortCall(operation: Operation): ShortCall | null {
  const { method } = operation;
  if (method === "head") return [method, operation.key];
  if (method === "put") return shortPut(operation);
  return method === "get" && isPlainGet(operation) ? [method, operation.key] : null;
}

function isPlainGet({ range, onlyIf, partNumber }: Request<"get">): boolean {
  return range === undefined && onlyIf === undefined && partNumber === undefined;
}

function shortPut(operation: Request<"put">): ShortCall | null {
  const { method, key, content, http, custom, ...others } = operation;
  const { md5, ...checksums } = content.checksums;
  if (!("bytes" in content) || md5 === undefined) return null;
  const plain =
    isEmpty(http) &&
    isEmpty(custom) &&
    isEmpty(checksums) &&
    others.storageClass === "Standard" &&
    others.ssecKeyMd5 === undefined &&
    others.onlyIf === undefined &&
    others.checksum === undefined;
  const rest = plain ? undefined : JSON.stringify({ http, custom, checksums, ...others });
  return [method, key, content.bytes, md5, rest];
}

/** The operation that a short call stands for. */
export function operationOf(call: ShortCall): Operation {
  const [method, key] = call;
  return method === "put" ? putOf(call) : { method, key };
}

function putOf([, key, bytes, md5, rest]: ShortCall): Request<"put"> {
  const { checksums, ...description } =
    rest === undefined ? plainRest : (JSON.parse(rest) as typeof plainRest);
  return {
    method: "put",
    key,
    content: { bytes: bytes as Uint8Array, checksums: { md5, ...checksums } },
    ...description,
  };
}

const plainRest = { http: {}, custom: {}, checksums: {}, storageClass: "Standard" } as const;

export function shortAnswer(outcome: Outcome): ShortAnswer {
  if (!outcome.ok) return outcome;
  const { value } = outcome;
  if (value === null || typeof value === "string") return value;
  if ("status" in value && value.status === "found") {
    const [first, second] = value.content;
    if (second === undefined && first !== undefined && "bytes" in first) {
      return [value.object, first.bytes as ArrayBuffer];
    }
  }
  return outcome;
}

/** The outcome that a short answer stands for; a long answer as it is. */
export function outcomeOf<Long extends object>(answer: ShortAnswer<Long>): Outcome | Long {
  if (answer === null || typeof answer === "string") return { ok: true, value: answer };
  if (!isPair(answer)) return answer;
  const [object, bytes] = answer;
  const range = { offset: 0, length: bytes.byteLength };
  return { ok: true, value: { status: "found", object, range, content: [{ bytes }] } };
}

function isPair(answer: object): answer is readonly [EncodedObject, ArrayBuffer] {
  return Array.isArray(answer);
}

function isEmpty(fields: object): boolean {
  for (const _ in fields) return false;
  return true;
}
