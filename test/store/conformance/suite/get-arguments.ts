/** Bad input to get(). range.ts and conditional.ts hold more rows for the options. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreObjectBody } from "../../../../src/types/store.ts";
import { hello } from "./content.ts";
import type { Failure } from "./failure.ts";
import { failureOf, fieldError, parameterError, storeError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import type { Subject } from "./subject.ts";

const httpMetadataField = fieldError("httpMetadata", {
  on: "GetOptions",
  type: "HttpMetadata or Headers",
});
const rangeField = fieldError("range", { on: "GetOptions", type: "Range or Headers" });
const onlyIfField = fieldError("onlyIf", { on: "GetOptions", type: "Conditional or Headers" });
const options = parameterError("get", { index: 2, type: "GetOptions" });

const refused: [name: string, options: unknown, failure: Failure][] = [
  ["a number", 1, options],
  ["a string", "options", options],
  ["a boolean", true, options],
  ["onlyIf: a number", { onlyIf: 1 }, onlyIfField],
  ["onlyIf: a string", { onlyIf: "*" }, onlyIfField],
  ["range: a number", { range: 1 }, rangeField],
  ["range: a string", { range: "bytes=0-1" }, rangeField],
  ["httpMetadata: a number", { httpMetadata: 1 }, httpMetadataField],
  ["httpMetadata: a string", { httpMetadata: "text/plain" }, httpMetadataField],
  [
    "httpMetadata.cacheExpiry: a string",
    { httpMetadata: { cacheExpiry: "tomorrow" } },
    fieldError("cacheExpiry", { on: "HttpMetadata", type: "date" }),
  ],
  [
    "httpMetadata.cacheExpiry: an invalid date",
    { httpMetadata: { cacheExpiry: new Date(Number.NaN) } },
    typeError("The value cannot be converted because it is not a valid Date."),
  ],
];

const ignored: [name: string, options: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["an empty object", {}],
  ["unknown fields", { colour: "red" }],
  ["onlyIf: undefined", { onlyIf: undefined }],
  ["onlyIf: null", { onlyIf: null }],
  ["onlyIf: an empty object", { onlyIf: {} }],
  ["range: undefined", { range: undefined }],
  ["range: null", { range: null }],
  ["httpMetadata: undefined", { httpMetadata: undefined }],
  ["httpMetadata: null", { httpMetadata: null }],
];

export function getArgumentsSuite(subject: Subject): void {
  describe("get: arguments", () => {
    let bucket: StoreBucket;
    const key = freshKey("get-arguments");
    beforeAll(async () => {
      bucket = await subject.bucket();
      await bucket.put(key, hello.text);
    });

    const get = (...parameters: unknown[]) => looseBucket(bucket).get(...parameters);

    it("get() refuses a missing key", async () => {
      expect(await failureOf(() => looseBucket(bucket).get())).toEqual(
        parameterError("get", { index: 1, type: "string" }),
      );
    });

    it("get() coerces the key to a string", async () => {
      await bucket.put("12", "coerced");
      const object = (await looseBucket(bucket).get(12)) as StoreObjectBody | null;
      expect(await object?.text()).toBe("coerced");
      await bucket.delete("12");
    });

    it("get() refuses an empty key", async () => {
      expect(await failureOf(() => bucket.get(""))).toEqual(storeError("get", 10020));
    });

    it("get() refuses a key of more than 1024 bytes", async () => {
      expect(await failureOf(() => bucket.get("k".repeat(1025)))).toEqual(storeError("get", 10020));
    });

    for (const [name, value, failure] of refused) {
      it(`get() refuses options: ${name}`, async () => {
        expect(await failureOf(() => looseBucket(bucket).get(key, value))).toEqual(failure);
      });
    }

    it("get() refuses bad options for an absent object too", async () => {
      const absent = freshKey("get-arguments");
      expect(await failureOf(() => looseBucket(bucket).get(absent, { range: 1 }))).toEqual(
        rangeField,
      );
    });

    for (const [name, value] of ignored) {
      it(`get() reads the whole object with options: ${name}`, async () => {
        const object = (await looseBucket(bucket).get(key, value)) as StoreObjectBody;
        expect(object.range).toEqual({ offset: 0, length: 5 });
        expect(await object.text()).toBe(hello.text);
      });
    }

    it("get() refuses symbols", async () => {
      const toString = typeError("Cannot convert a Symbol value to a string");
      const toNumber = typeError("Cannot convert a Symbol value to a number");
      const symbol = Symbol("value");
      expect(await failureOf(() => get(symbol))).toEqual(toString);
      expect(await failureOf(() => get(key, symbol))).toEqual(options);
      expect(await failureOf(() => get(key, { range: { offset: symbol } }))).toEqual(toNumber);
      expect(await failureOf(() => get(key, { onlyIf: { etagMatches: symbol } }))).toEqual(
        fieldError("etagMatches", { on: "Conditional", type: "string" }),
      );
      expect(await failureOf(() => get(key, { httpMetadata: { contentType: symbol } }))).toEqual(
        toString,
      );
    });
  });
}
