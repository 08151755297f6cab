/** Bad input to list(). */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreObjects } from "../../../../src/types/store.ts";
import type { Failure } from "./failure.ts";
import {
  failureOf,
  fieldError,
  parameterError,
  rangeError,
  storeError,
  typeError,
} from "./failure.ts";
import { freshKey } from "./key.ts";
import { keysOf, putAll } from "./listing.ts";
import { looseBucket } from "./loose.ts";
import type { Subject } from "./subject.ts";

const options = parameterError("list", { index: 1, type: "ListOptions" });
const limit = storeError("list", 10022);
const notAnInteger32 = typeError(
  "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
);
const includeField = fieldError("include", { on: "ListOptions", type: "Array" });
const includeElement = typeError(
  "Incorrect type for array element 0: the provided value is not of type 'string'.",
);
const stringField = (field: string) => fieldError(field, { on: "ListOptions", type: "string" });

const refused: [name: string, options: unknown, failure: Failure][] = [
  ["a number", 1, options],
  ["a string", "prefix", options],
  ["a boolean", true, options],
  ["limit: 0", { limit: 0 }, limit],
  ["limit: 1001", { limit: 1001 }, limit],
  ["limit: -1", { limit: -1 }, limit],
  ["limit: NaN", { limit: Number.NaN }, limit],
  ["limit: Infinity", { limit: Number.POSITIVE_INFINITY }, limit],
  ["limit: 0.5", { limit: 0.5 }, limit],
  ["limit: null", { limit: null }, limit],
  ["limit: text", { limit: "many" }, limit],
  ["limit: an object", { limit: {} }, limit],
  ["limit: 2^31", { limit: 2 ** 31 }, notAnInteger32],
  ["limit: 2^40", { limit: 2 ** 40 }, notAnInteger32],
  ["limit: -2^40", { limit: -(2 ** 40) }, notAnInteger32],
  ["limit: a bigint", { limit: 5n }, typeError("Cannot convert a BigInt value to a number")],
  ["include: a string", { include: "httpMetadata" }, includeField],
  ["include: null", { include: null }, includeField],
  ["include: a Set", { include: new Set(["httpMetadata"]) }, includeField],
  ["include: [1]", { include: [1] }, includeElement],
  ["include: [null]", { include: [null] }, includeElement],
  ["include: [bogus]", { include: ["bogus"] }, rangeError("Unsupported include value bogus")],
  [
    "include: another case",
    { include: ["HttpMetadata"] },
    rangeError("Unsupported include value HttpMetadata"),
  ],
  ...["prefix", "cursor", "delimiter", "startAfter"].flatMap((field) =>
    [1, null, true, {}, ["a"]].map((value): [string, unknown, Failure] => [
      `${field}: ${JSON.stringify(value)}`,
      { [field]: value },
      stringField(field),
    ]),
  ),
];

const coerced: [name: string, options: object, count: number][] = [
  ["limit: a string", { limit: "2" }, 2],
  ["limit: true", { limit: true }, 1],
  ["limit: 1.5", { limit: 1.5 }, 1],
  ["limit: undefined", { limit: undefined }, 3],
  ["limit: 1000.5", { limit: 1000.5 }, 3],
  ["prefix, cursor, delimiter, startAfter, include: undefined", absent(), 3],
  ["unknown fields", { colour: "red" }, 3],
];

function absent() {
  return {
    cursor: undefined,
    delimiter: undefined,
    startAfter: undefined,
    include: undefined,
  };
}

export function listArgumentsSuite(subject: Subject): void {
  describe("list: arguments", () => {
    let bucket: StoreBucket;
    const prefix = `${freshKey("list-arguments")}:`;
    beforeAll(async () => {
      bucket = await subject.bucket();
      await putAll(
        bucket,
        ["a", "b", "c"].map((name) => prefix + name),
      );
    });

    const list = (given: unknown) => failureOf(() => looseBucket(bucket).list(given));

    for (const [name, bad, failure] of refused) {
      it(`list() refuses options: ${name}`, async () => {
        expect(await list(bad)).toEqual(failure);
      });
    }

    for (const [name, good, count] of coerced) {
      it(`list() takes options: ${name}`, async () => {
        const page = await looseBucket(bucket).list({ ...good, prefix });
        expect((page as StoreObjects).objects).toHaveLength(count);
      });
    }

    for (const none of [undefined, null]) {
      it(`list() treats ${none} as no options`, async () => {
        const page = (await looseBucket(bucket).list(none)) as StoreObjects;
        expect(page.objects.length).toBeGreaterThan(0);
      });
    }

    it("list() refuses a forged cursor", async () => {
      const page = await bucket.list({ prefix, limit: 1 });
      if (!page.truncated) throw new Error("Expected a truncated page");
      const { cursor } = page;
      const middle = Math.floor(cursor.length / 2);
      const other = cursor[middle] === "A" ? "B" : "A";
      const forged = [
        "bogus",
        "{}",
        "AAAA",
        prefix,
        cursor.slice(1),
        cursor.slice(0, middle),
        cursor.slice(0, middle) + other + cursor.slice(middle + 1),
        cursor + cursor,
      ];
      const failures = await Promise.all(
        forged.map((bad) => failureOf(() => bucket.list({ prefix, cursor: bad }))),
      );
      const message: unknown = expect.stringMatching(/^list: ./);
      expect(failures).toEqual(forged.map(() => ({ error: "Error", message })));
      expect(keysOf(await bucket.list({ prefix, cursor }), prefix)).toEqual(["b", "c"]);
    });

    it("list() refuses symbols", async () => {
      const symbol = Symbol("value");
      expect(await list(symbol)).toEqual(options);
      expect(await list({ limit: symbol })).toEqual(
        typeError("Cannot convert a Symbol value to a number"),
      );
      expect(await list({ prefix: symbol })).toEqual(stringField("prefix"));
      expect(await list({ cursor: symbol })).toEqual(stringField("cursor"));
      expect(await list({ delimiter: symbol })).toEqual(stringField("delimiter"));
      expect(await list({ startAfter: symbol })).toEqual(stringField("startAfter"));
      expect(await list({ include: [symbol] })).toEqual(includeElement);
    });
  });
}
