/**
 * The differences between the binding and Miniflare's R2 binding, with their reasons.
 *
 * `when` matches one difference: the call, the two values that differ, and their path in the
 * outcome. `provoke` is a sequence that shows the difference: the test fails when the sequence no
 * longer shows it, and when a difference matches no entry.
 *
 * `diverges`: after this difference the two buckets hold different objects, so the rest of the
 * sequence is not compared. Every entry stands in `docs/deviations.md`.
 */
import type { Call, ContentMark, Encoded, Json, Operation } from "./model/operation.ts";

export interface Expectation {
  readonly id: string;
  readonly reason: string;
  readonly when: (difference: {
    readonly call: Call;
    readonly path: string;
    readonly ours: Json | undefined;
    readonly theirs: Json | undefined;
  }) => boolean;
  readonly provoke: readonly Operation[];
  readonly diverges?: true;
  /** The sequence runs on the binding without `store_list_trailing_delimiter`. */
  readonly withoutTrailingDelimiter?: true;
}

const value: ContentMark = { $: "content", kind: "string", sizeBytes: 10, seed: 0 };
const partSizeBytesMin = 5 * 1024 * 1024;
const bigPart: ContentMark = { ...value, kind: "Uint8Array", sizeBytes: partSizeBytesMin };

const put = (key: string, options: Encoded = {}): Call => ({
  method: "put",
  args: [key, value, options],
});
const list = (options: Encoded): Call => ({ method: "list", args: [options] });
const create = (options: Encoded = {}): Call => ({
  method: "createMultipartUpload",
  args: ["a", options],
  slot: 0,
});
const uploadPart = (partNumber: number, content: ContentMark): Call => ({
  method: "uploadPart",
  args: [partNumber, content],
  slot: 0,
});
const complete = (partNumbers: readonly number[]): Call => ({
  method: "complete",
  args: [partNumbers.map((partNumber) => ({ $: "part", slot: 0, partNumber, age: 0 }))],
  slot: 0,
});
const text = (count: number): Encoded => ({ $: "text", unit: "v", count });

/** The code of a store error, such as `(10024)` at the end of its message. */
function codeOf(outcome: Json | undefined): number | undefined {
  const message = typeof outcome === "string" ? outcome : field(field(outcome, "error"), "message");
  const match = /\((\d+)\)$/.exec(textOf(message));
  return match === null ? undefined : Number(match[1]);
}

function textOf(outcome: Json | undefined): string {
  return typeof outcome === "string" ? outcome : "";
}

function field(outcome: Json | undefined, name: string): Json | undefined {
  if (outcome === null || typeof outcome !== "object" || Array.isArray(outcome)) return undefined;
  return outcome[name];
}

function succeeded(outcome: Json | undefined): boolean {
  return field(outcome, "value") !== undefined;
}

function mentions(outcome: Json | undefined, needle: string): boolean {
  return JSON.stringify(outcome ?? null).includes(JSON.stringify(needle).slice(1, -1));
}

export const expectations: readonly Expectation[] = [
  {
    id: "storage-class",
    reason: "The specification gives every object a storage class; the simulator drops it.",
    when: ({ path, ours, theirs }) =>
      path.endsWith("storageClass") &&
      (ours === "Standard" || ours === "InfrequentAccess") &&
      theirs === "",
    provoke: [put("a", { storageClass: "InfrequentAccess" })],
  },
  {
    id: "listed-metadata-absent",
    reason:
      "Metadata that `include` does not name is absent; the simulator returns empty metadata.",
    when: ({ path, ours, theirs }) =>
      /objects\.\d+\.(http|custom)Metadata$/.test(path) &&
      ours === undefined &&
      JSON.stringify(theirs) === "{}",
    provoke: [put("a", { httpMetadata: { contentType: "text/plain" } }), list({ include: [] })],
  },
  {
    id: "listed-metadata-unknown",
    reason:
      "writeHttpMetadata() throws when list() did not include the metadata, as in the deployed service; the simulator writes nothing.",
    when: ({ path, ours, theirs }) =>
      /objects\.\d+\.headers$/.test(path) &&
      textOf(ours).startsWith("TypeError: HTTP metadata unknown for key") &&
      JSON.stringify(theirs) === "[]",
    provoke: [put("a"), list({ include: ["customMetadata"] })],
  },
  {
    id: "unknown-upload",
    reason:
      "An unknown upload is error 10024 for every method; the simulator answers 10001 to two methods.",
    when: ({ call, path, ours, theirs }) =>
      (call.method === "complete" || call.method === "abort") &&
      path === "error.message" &&
      codeOf(ours) === 10024 &&
      codeOf(theirs) === 10001,
    provoke: [complete([1]), { method: "abort", args: [], slot: 0 }],
  },
  {
    id: "metadata-on-reads",
    reason: "The specification lets a read override `httpMetadata`; R2's get() has no such option.",
    when: ({ call, path }) =>
      call.method === "get" &&
      JSON.stringify(call.args).includes('"httpMetadata"') &&
      /^value\.(0\.httpMetadata\.\w+|0\.headers(\.\d+)?|1\.type)$/.test(path),
    provoke: [
      put("a"),
      { method: "get", args: ["a", { httpMetadata: { contentType: "text/x-read" } }] },
    ],
  },
  {
    id: "forged-cursor",
    reason:
      "A cursor that no list() returned is an error; the simulator lists from an arbitrary position.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "list" &&
      path === "" &&
      field(ours, "error") !== undefined &&
      succeeded(theirs),
    provoke: [put("a"), { ...list({ cursor: "not a cursor" }), anyError: true }],
  },
  {
    id: "delete-count",
    reason: "delete() takes 1 to 1000 keys; the simulator takes any number.",
    when: ({ path, ours, theirs }) => path === "" && codeOf(ours) === 10027 && succeeded(theirs),
    provoke: [
      { method: "delete", args: [[]] },
      { method: "delete", args: [{ $: "keys", count: 1001 }] },
    ],
  },
  {
    id: "list-limit-negative",
    reason: "A limit below 1 is error 10022; the simulator treats a negative limit as no limit.",
    when: ({ path, ours, theirs }) => path === "" && codeOf(ours) === 10022 && succeeded(theirs),
    provoke: [list({ limit: -1 })],
  },
  {
    id: "stream-type-name",
    reason:
      "The platform's error text contains an internal name of ReadableStream; Ledge's text does not.",
    when: ({ path, ours, theirs }) =>
      path === "error.message" &&
      textOf(theirs).replace("'JsReadableStream or", "'ReadableStream or") === ours,
    provoke: [{ method: "put", args: ["a", 1] }],
  },
  {
    id: "metadata-limit-of-headers",
    reason: "The limit of metadata applies to HTTP metadata too; the simulator does not check it.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "put" && path === "" && codeOf(ours) === 10012 && succeeded(theirs),
    provoke: [put("a", { httpMetadata: { cacheControl: text(9000) } })],
    diverges: true,
  },
  {
    id: "empty-key",
    reason: "The empty key is not a valid name (10020); the simulator accepts it.",
    when: ({ call, path, ours, theirs }) =>
      path === "" && call.args[0] === "" && codeOf(ours) === 10020 && succeeded(theirs),
    provoke: [put("")],
    diverges: true,
  },
  {
    id: "include-page-size",
    reason: "A page with metadata is limited by its bytes; the simulator limits it to 100 objects.",
    when: ({ call, path, theirs }) =>
      call.method === "list" &&
      JSON.stringify(call.args).includes('"include"') &&
      ((path === "value.0.objects" && (theirs as Json[]).length === 100) ||
        path === "value.0.truncated" ||
        path === "value.0.hasCursor"),
    provoke: [
      { together: Array.from({ length: 101 }, (_, index) => put(`key ${index}`)) },
      list({ include: ["customMetadata"] }),
    ],
  },
  {
    id: "range-at-end",
    reason:
      "A range that begins at the object's end is error 10039; the simulator fails without a code, or returns no bytes.",
    when: ({ call, ours, theirs }) =>
      call.method === "get" &&
      codeOf(ours) === 10039 &&
      (codeOf(theirs) === 0 || succeeded(theirs)),
    provoke: [
      put("a"),
      { method: "get", args: ["a", { range: { offset: 10, length: 1 } }] },
      create(),
      uploadPart(1, { ...value, sizeBytes: 0 }),
      complete([1]),
      { method: "get", args: ["a", { range: { length: 1 } }] },
    ],
  },
  {
    id: "empty-range-of-empty-object",
    reason:
      "The range {} is the whole object, also when it is empty; the simulator requires one byte.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "get" && path === "" && succeeded(ours) && codeOf(theirs) === 10039,
    provoke: [
      { method: "put", args: ["a", null] },
      { method: "get", args: ["a", { range: {} }] },
    ],
  },
  {
    id: "part-order",
    reason:
      "complete() takes parts in any order; the simulator checks the sizes in the given order.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "complete" && path === "" && succeeded(ours) && codeOf(theirs) === 10011,
    provoke: [create(), uploadPart(1, bigPart), uploadPart(2, value), complete([2, 1])],
    diverges: true,
  },
  {
    id: "part-order-of-small-part",
    reason:
      "A small part before the last part number is error 10011; the simulator answers 10048 when the list names that part last.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "complete" &&
      path === "error.message" &&
      codeOf(ours) === 10011 &&
      codeOf(theirs) === 10048,
    provoke: [create(), uploadPart(1, value), uploadPart(2, bigPart), complete([2, 1])],
  },
  {
    id: "part-twice",
    reason: "A part that the list names twice is error 10048; the simulator answers 10001.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "complete" &&
      path === "error.message" &&
      codeOf(ours) === 10048 &&
      codeOf(theirs) === 10001,
    provoke: [create(), uploadPart(1, value), complete([1, 1])],
  },
  {
    id: "same-part-again",
    reason:
      "The etag of a part is the MD5 of its content, so equal parts have equal etags; R2 generates random etags.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "complete" && path === "" && succeeded(ours) && codeOf(theirs) === 10025,
    provoke: [
      create(),
      uploadPart(1, value),
      uploadPart(1, value),
      { method: "complete", args: [[{ $: "part", slot: 0, partNumber: 1, age: 1 }]], slot: 0 },
    ],
    diverges: true,
  },
  {
    id: "no-parts",
    reason: "An upload without parts cannot be completed (10048); the simulator creates an object.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "complete" && path === "" && codeOf(ours) === 10048 && succeeded(theirs),
    provoke: [create(), complete([])],
    diverges: true,
  },
  {
    id: "prefix-without-delimiter",
    reason:
      "In the specification, prefixes end before the delimiter; the flag store_list_trailing_delimiter selects R2's form.",
    when: ({ path, ours, theirs }) =>
      /delimitedPrefixes\.\d+$/.test(path) && `${textOf(ours)}/` === theirs,
    provoke: [
      put("foo/bar/baz"),
      list({ delimiter: "/" }),
      list({ prefix: "foo/", delimiter: "/" }),
    ],
    withoutTrailingDelimiter: true,
  },
  {
    id: "prefix-repeated",
    reason:
      "A prefix is listed once; the simulator lists a prefix again when a key is added to it between two pages.",
    when: ({ call, path, theirs }) =>
      call.method === "list" &&
      JSON.stringify(call.args).includes('"cursor"') &&
      path === "value.0.delimitedPrefixes" &&
      mentions(theirs, "a/"),
    provoke: [
      put("a/1"),
      put("b"),
      { ...list({ delimiter: "/", limit: 1 }), slot: 0 },
      put("a/2"),
      list({ delimiter: "/", cursor: { $: "cursor", slot: 0 } }),
    ],
  },
  {
    id: "lone-surrogate",
    reason: "A lone surrogate becomes one U+FFFD, as in any UTF-8 encoder; R2 stores three.",
    when: ({ ours, theirs }) =>
      typeof ours === "string" &&
      typeof theirs === "string" &&
      ours !== theirs &&
      ours === theirs.replaceAll("\uFFFD\uFFFD\uFFFD", "\uFFFD"),
    provoke: [put("a\uD800")],
  },
  {
    id: "nul-in-list",
    reason: "NUL is an ordinary character; the simulator's SQL functions stop at NUL.",
    when: ({ call, path, ours, theirs }) =>
      call.method === "list" &&
      /^value\.0\.(objects|delimitedPrefixes)$/.test(path) &&
      (mentions(ours, "\u0000") || mentions(theirs, "\u0000")),
    provoke: [put("a\u0000b/c"), list({ prefix: "a\u0000" }), list({ delimiter: "/" })],
  },
];
