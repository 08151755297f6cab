/** Calls that a bucket refuses. Each uses a key that other operations use too. */
import * as fc from "fast-check";

import {
  brokenContentKinds,
  type Call,
  type ContentMark,
  type DigestMark,
  type Encoded,
} from "../operation.ts";
import { key } from "./keys.ts";

const symbol = { $: "symbol" } as const;
const invalidDate = { $: "date", milliseconds: null } as const;
const nan = { $: "number", text: "NaN" } as const;
const text = (unit: string, count: number): Encoded => ({ $: "text", unit, count });

const value: ContentMark = { $: "content", kind: "string", sizeBytes: 10, seed: 9 };
const otherValue: ContentMark = { ...value, seed: 8 };
const digest = (algorithm: DigestMark["algorithm"]): DigestMark => ({
  $: "digest",
  algorithm,
  of: otherValue,
  form: "hex",
});

const notKeys: Encoded[] = [symbol, text("k", 1025), text("é", 513)];
const notOptions: Encoded[] = [1, "text", true];
const notValues: Encoded[] = [1, true, symbol, {}, [], invalidDate];
const notDates: Encoded[] = ["2020", invalidDate, nan];

const notConditionals: Encoded[] = [
  1,
  { etagMatches: 1 },
  { etagDoesNotMatch: null },
  { etagMatches: '"quoted"' },
  ...notDates.map((date) => ({ uploadedBefore: date })),
  ...notDates.map((date) => ({ uploadedAfter: date })),
];

/** The platform has a different error text for each of these. */
const notTagLists = ["", "zzz", "W/x", '"a', '"a""b"', '"a" "b"', 'abc,"x"'];

const notMetadata: Record<string, Encoded>[] = [
  { httpMetadata: 1 },
  { httpMetadata: { contentType: symbol } },
  ...notDates.map((date) => ({ httpMetadata: { cacheExpiry: date } })),
  { customMetadata: 1 },
  { customMetadata: null },
  { customMetadata: ["a"] },
  { customMetadata: { a: symbol } },
  { customMetadata: { a: text("v", 9000) } },
];

const notPutOptions: Encoded[] = [
  ...notOptions,
  ...notMetadata,
  ...notConditionals.map((onlyIf) => ({ onlyIf })),
  { md5: 1 },
  { md5: "abc" },
  { sha1: text("z", 40) },
  { sha256: { $: "content", kind: "Uint8Array", sizeBytes: 3, seed: 0 } },
  { md5: digest("md5"), sha1: digest("sha1") },
  { md5: digest("md5") },
  { sha1: digest("sha1") },
  { sha256: digest("sha256") },
  { sha384: digest("sha384") },
  { sha512: digest("sha512") },
];

const notRanges: Encoded[] = [
  1,
  { offset: -1 },
  { offset: 1.5 },
  { length: -1 },
  { length: 1.5 },
  { suffix: -1 },
  { suffix: 1.5 },
  { suffix: 1, offset: 0 },
  { suffix: 1, length: 1 },
];

const notListOptions: Encoded[] = [
  ...notOptions,
  { limit: 0 },
  { limit: 1001 },
  { prefix: 1 },
  { delimiter: 1 },
  { startAfter: 1 },
  { cursor: 1 },
  { include: "httpMetadata" },
  { include: ["bogus"] },
];

const notPartNumbers: Encoded[] = [0, -1, 10_001, nan, "x", null];

/** Calls whose key is fixed or missing. */
const fixed: Call[] = [
  { method: "head", args: [] },
  { method: "get", args: [] },
  { method: "put", args: [] },
  { method: "put", args: ["a"] },
  { method: "delete", args: [] },
  { method: "delete", args: [[]] },
  { method: "delete", args: [{ $: "keys", count: 1001 }] },
  { method: "delete", args: [["a", symbol]] },
  { method: "createMultipartUpload", args: [] },
  { method: "resumeMultipartUpload", args: [] },
  { method: "resumeMultipartUpload", args: ["a"] },
  { method: "resumeMultipartUpload", args: [symbol, "id"] },
  { method: "uploadPart", args: [] },
  { method: "uploadPart", args: [1] },
  { method: "uploadPart", args: [1, null] },
  { method: "complete", args: [] },
  { method: "complete", args: [1] },
  { method: "complete", args: [[{}]] },
  { method: "complete", args: [[{ partNumber: 0, etag: "x" }]] },
  { method: "complete", args: [[{ partNumber: 9999, etag: "x" }]] },
  { method: "list", args: [{ cursor: "not a cursor" }], anyError: true },
  { method: "list", args: [{ limit: -1 }] },
  ...notListOptions.map((options): Call => ({ method: "list", args: [options] })),
  ...notPartNumbers.map((number): Call => ({ method: "uploadPart", args: [number, value] })),
  ...notKeys.flatMap((notKey): Call[] => [
    { method: "head", args: [notKey] },
    { method: "get", args: [notKey] },
    { method: "put", args: [notKey, value] },
    { method: "delete", args: [notKey] },
    { method: "delete", args: [["a", notKey]] },
    { method: "createMultipartUpload", args: [notKey] },
  ]),
];

export const badInput: fc.Arbitrary<Call> = fc.oneof(
  fc.constantFrom(...fixed),
  bad("put", [...notValues.map((notValue) => [notValue]), ...notPutOptions.map((o) => [value, o])]),
  bad(
    "put",
    brokenContentKinds.map((kind) => [{ ...value, kind }]),
  ),
  bad("get", [
    ...notOptions.map((options) => [options]),
    ...notRanges.map((range) => [{ range }]),
    ...notConditionals.map((onlyIf) => [{ onlyIf }]),
  ]),
  fc
    .tuple(key, fc.constantFrom("if-match", "if-none-match"), fc.constantFrom(...notTagLists))
    .map(([name, header, list]): Call => ({
      method: "get",
      args: [name, { onlyIf: { $: "headers", entries: [[header, list]] } }],
      anyError: true,
    })),
  bad(
    "createMultipartUpload",
    [...notOptions, ...notMetadata].map((options) => [options]),
  ),
);

function bad(method: Call["method"], rests: readonly Encoded[][]): fc.Arbitrary<Call> {
  return fc
    .tuple(key, fc.constantFrom(...rests))
    .map(([name, rest]) => ({ method, args: [name, ...rest] }));
}

/** The empty key. R2 accepts it, so sequences for the comparison with R2 omit these calls. */
export const emptyKey: fc.Arbitrary<Call> = fc.constantFrom<Call>(
  { method: "head", args: [""] },
  { method: "get", args: [""] },
  { method: "put", args: ["", value] },
  { method: "delete", args: [""] },
  { method: "delete", args: [["a", ""]] },
  { method: "createMultipartUpload", args: [""] },
);
