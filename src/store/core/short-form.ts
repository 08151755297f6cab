/**
 * The commonest operations in their shortest form: a few plain values, where a structured clone of
 * an operation and its outcome would take longer than the bucket takes to execute it.
 *
 *     ["head", key]                          text, or null
 *     ["get", key]                           [text, bytes], or null
 *     ["put", key, layer, bytes, md5, rest]  text, or null
 *
 * `rest` is JSON of whatever else a put says, and is left out where there is nothing. An outcome
 * that is none of these (a failure, content in files, a fault in a test) travels as it is.
 */
import type { EncodedObject } from "./object-encoding.ts";
import type { Operation, Outcome, Request } from "./operations.ts";

export type ShortCall = readonly [
  method: "head" | "get" | "put",
  key: string,
  layer?: number | undefined,
  bytes?: Uint8Array,
  md5?: string,
  rest?: string | undefined,
];

export type ShortAnswer =
  | EncodedObject
  | null
  | readonly [object: EncodedObject, bytes: ArrayBuffer]
  | Outcome;

/** `null` for an operation that has no short form. */
export function shortCall(operation: Operation): ShortCall | null {
  const { method, layer } = operation;
  if (method === "head") return [method, operation.key, layer];
  if (method === "put") return shortPut(operation);
  return method === "get" && operation.range === undefined && operation.onlyIf === undefined
    ? [method, operation.key, layer]
    : null;
}

function shortPut(operation: Request<"put"> & Pick<Operation, "layer">): ShortCall | null {
  const { method, key, layer, content, http, custom, ...others } = operation;
  const { md5, ...checksums } = content.checksums;
  if (!("bytes" in content) || md5 === undefined) return null;
  const plain =
    isEmpty(http) &&
    isEmpty(custom) &&
    isEmpty(checksums) &&
    others.storageClass === "Standard" &&
    others.onlyIf === undefined &&
    others.checksum === undefined;
  const rest = plain ? undefined : JSON.stringify({ http, custom, checksums, ...others });
  return [method, key, layer, content.bytes, md5, rest];
}

/** The operation that a short call stands for. */
export function operationOf(call: ShortCall): Operation {
  const [method, key, layer] = call;
  const operation = method === "put" ? putOf(call) : { method, key };
  return layer === undefined ? operation : { ...operation, layer };
}

function putOf([, key, , bytes, md5, rest]: ShortCall): Request<"put"> {
  const { checksums, ...description } =
    rest === undefined ? plainRest : (JSON.parse(rest) as typeof plainRest);
  return {
    method: "put",
    key,
    content: { bytes: bytes as Uint8Array, checksums: { md5: md5 as string, ...checksums } },
    ...description,
  };
}

const plainRest = { http: {}, custom: {}, checksums: {}, storageClass: "Standard" } as const;

export function shortAnswer(outcome: Outcome): ShortAnswer {
  if (!outcome.ok || outcome.answerFault !== undefined) return outcome;
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

/** The outcome that a short answer stands for. */
export function outcomeOf(answer: ShortAnswer): Outcome {
  if (answer === null || typeof answer === "string") return { ok: true, value: answer };
  if (!isPair(answer)) return answer;
  const [object, bytes] = answer;
  const range = { offset: 0, length: bytes.byteLength };
  return { ok: true, value: { status: "found", object, range, content: [{ bytes }] } };
}

function isPair(answer: ShortAnswer): answer is readonly [EncodedObject, ArrayBuffer] {
  return Array.isArray(answer);
}

function isEmpty(fields: object): boolean {
  for (const _ in fields) return false;
  return true;
}
