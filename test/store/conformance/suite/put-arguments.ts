/** Bad input to put(): the call fails with the specified error, and stores nothing. */
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { bytesOf, firstDifference, hello, inlineBytesMax } from "./content.ts";
import type { Failure } from "./failure.ts";
import {
  anyTypeError,
  failureOf,
  fieldError,
  parameterError,
  rangeError,
  storeError,
  typeError,
  valueTypes,
} from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import { present } from "./present.ts";
import {
  consumedStream,
  disturbedStream,
  failingStream,
  lockedStream,
  declaredStream,
  streamOf,
  streamOfUnknownLength,
} from "./stream.ts";
import { type Subject, onlyIn } from "./subject.ts";

const value = parameterError("put", { index: 2, type: valueTypes });
const options = parameterError("put", { index: 3, type: "PutOptions" });
const invalidDate = typeError("The value cannot be converted because it is not a valid Date.");
const farDate = typeError("This API doesn't support dates after 2189.");
const httpMetadataField = fieldError("httpMetadata", {
  on: "PutOptions",
  type: "HttpMetadata or Headers",
});
const customMetadataField = fieldError("customMetadata", { on: "PutOptions", type: "object" });
const cacheExpiryField = fieldError("cacheExpiry", { on: "HttpMetadata", type: "date" });
const onlyIfField = fieldError("onlyIf", { on: "PutOptions", type: "Conditional or Headers" });

const refusedValues: [name: string, value: unknown][] = [
  ["a number", 1],
  ["NaN", Number.NaN],
  ["a boolean", true],
  ["a bigint", 1n],
  ["an object", {}],
  ["an array", ["a"]],
  ["a Date", new Date(0)],
  ["a Map", new Map()],
];

const refusedOptions: [name: string, options: unknown, failure: Failure][] = [
  ["a number", 1, options],
  ["a string", "options", options],
  ["a boolean", true, options],
  ["onlyIf: a number", { onlyIf: 1 }, onlyIfField],
  ["onlyIf: a string", { onlyIf: "*" }, onlyIfField],
  ["httpMetadata: a number", { httpMetadata: 1 }, httpMetadataField],
  ["httpMetadata: a string", { httpMetadata: "text/plain" }, httpMetadataField],
  [
    "cacheExpiry: an invalid Date",
    { httpMetadata: { cacheExpiry: new Date(Number.NaN) } },
    invalidDate,
  ],
  ["cacheExpiry: NaN", { httpMetadata: { cacheExpiry: Number.NaN } }, invalidDate],
  ["cacheExpiry: a far date", { httpMetadata: { cacheExpiry: new Date(1e15) } }, farDate],
  ["cacheExpiry: a string", { httpMetadata: { cacheExpiry: "tomorrow" } }, cacheExpiryField],
  ["cacheExpiry: null", { httpMetadata: { cacheExpiry: null } }, cacheExpiryField],
  ["customMetadata: a number", { customMetadata: 1 }, customMetadataField],
  ["customMetadata: a string", { customMetadata: "a=b" }, customMetadataField],
  ["customMetadata: an array", { customMetadata: ["a"] }, customMetadataField],
  ["customMetadata: null", { customMetadata: null }, customMetadataField],
  ["storageClass: unknown", { storageClass: "Glacier" }, anyTypeError],
  ["storageClass: another case", { storageClass: "standard" }, anyTypeError],
  ["storageClass: empty", { storageClass: "" }, anyTypeError],
  ["storageClass: a number", { storageClass: 1 }, anyTypeError],
  ["storageClass: null", { storageClass: null }, anyTypeError],
];

const allowedOptions: [name: string, options: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["an empty object", {}],
  ["unknown fields", { colour: "red" }],
  ["onlyIf: null", { onlyIf: null }],
  ["onlyIf: undefined", { onlyIf: undefined }],
  ["httpMetadata: null", { httpMetadata: null }],
  ["httpMetadata: undefined", { httpMetadata: undefined }],
  ["customMetadata: undefined", { customMetadata: undefined }],
  ["md5: undefined", { md5: undefined }],
  ["storageClass: undefined", { storageClass: undefined }],
];

export function putArgumentsSuite(subject: Subject): void {
  describe("put: arguments", () => {
    let bucket: StoreBucket;
    let key: string;
    let occupied: string;
    let version: string;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });
    beforeEach(async () => {
      key = freshKey("put-arguments");
      occupied = freshKey("put-arguments");
      ({ version } = await bucket.put(occupied, hello.text, { customMetadata: { old: "yes" } }));
    });

    /** Calls put() with a free key and with an occupied key, and returns both failures. */
    async function refusals(make: () => unknown[] | Promise<unknown[]>) {
      const failures: unknown[] = [];
      for (const target of [key, occupied]) {
        const parameters = await make();
        failures.push(await failureOf(() => looseBucket(bucket).put(target, ...parameters)));
      }
      return failures;
    }

    async function expectNothingStored(): Promise<void> {
      expect(await bucket.head(key)).toBeNull();
      const old = await present(bucket.get(occupied));
      expect(old.version).toBe(version);
      expect(old.customMetadata).toEqual({ old: "yes" });
      expect(await old.text()).toBe(hello.text);
    }

    it("put() refuses a missing key", async () => {
      expect(await failureOf(() => looseBucket(bucket).put())).toEqual(
        parameterError("put", { index: 1, type: "string" }),
      );
      await expectNothingStored();
    });

    it("put() refuses a missing value", async () => {
      expect(await refusals(() => [])).toEqual([value, value]);
      await expectNothingStored();
    });

    it("put() coerces the key to a string", async () => {
      await looseBucket(bucket).put(34, "coerced");
      expect(await (await present(bucket.get("34"))).text()).toBe("coerced");
      await bucket.delete("34");
    });

    it("put() refuses an empty key", async () => {
      expect(await failureOf(() => bucket.put("", "x"))).toEqual(storeError("put", 10020));
      await expectNothingStored();
    });

    for (const [name, long] of [
      ["1025 bytes", "k".repeat(1025)],
      ["513 characters of two bytes", "é".repeat(513)],
      ["342 characters of three bytes", "€".repeat(342)],
    ] as const) {
      it(`put() refuses a key of ${name}`, async () => {
        for (const content of ["x", bytesOf(inlineBytesMax + 1)]) {
          expect(await failureOf(() => bucket.put(long, content))).toEqual(
            storeError("put", 10020),
          );
        }
        const { objects } = await bucket.list({ prefix: long.slice(0, 100) });
        expect(objects).toEqual([]);
      });
    }

    for (const [name, bad] of refusedValues) {
      it(`put() refuses a value: ${name}`, async () => {
        expect(await refusals(() => [bad])).toEqual([value, value]);
        await expectNothingStored();
      });
    }

    for (const [name, bad, failure] of refusedOptions) {
      it(`put() refuses options: ${name}`, async () => {
        expect(await refusals(() => ["new", bad])).toEqual([failure, failure]);
        await expectNothingStored();
      });
    }

    for (const [name, good] of allowedOptions) {
      it(`put() stores with options: ${name}`, async () => {
        await looseBucket(bucket).put(key, "new", good);
        const object = await present(bucket.get(key));
        expect(object.httpMetadata).toEqual({});
        expect(object.customMetadata).toEqual({});
        expect(await object.text()).toBe("new");
      });
    }

    it("put() refuses bad options before it reads a stream", async () => {
      const stream = streamOf(subject, bytesOf(10));
      expect(await failureOf(() => looseBucket(bucket).put(key, stream, { onlyIf: 1 }))).toEqual(
        onlyIfField,
      );
      await expectNothingStored();
    });

    it("put() refuses a detached ArrayBuffer", async () => {
      const failures = await refusals(() => {
        const buffer = new ArrayBuffer(8);
        structuredClone(buffer, { transfer: [buffer] });
        return [buffer];
      });
      expect(failures).toEqual([anyTypeError, anyTypeError]);
      await expectNothingStored();
    });

    it("put() refuses a view of a detached ArrayBuffer", async () => {
      const failures = await refusals(() => {
        const view = new Uint8Array(8);
        structuredClone(view, { transfer: [view.buffer] });
        return [view];
      });
      expect(failures).toEqual([anyTypeError, anyTypeError]);
      await expectNothingStored();
    });

    const locked = typeError("The ReadableStream has been locked to a reader.");
    const broken = rangeError("boom");

    it("put() refuses a locked stream", async () => {
      expect(await refusals(() => [lockedStream()])).toEqual([locked, locked]);
      await expectNothingStored();
    });

    it("put() refuses a stream that has been read", async () => {
      expect(await refusals(async () => [await consumedStream()])).toEqual([locked, locked]);
      await expectNothingStored();
    });

    // In Node, a partly read stream delivers the rest, and its length is unknown.
    onlyIn(subject, "workerd")("put() refuses a partly read stream", async () => {
      const failure = typeError("This ReadableStream is disturbed.");
      expect(await refusals(async () => [await disturbedStream(subject)])).toEqual([
        failure,
        failure,
      ]);
      await expectNothingStored();
    });

    for (const size of [10, inlineBytesMax * 3]) {
      it(`put() fails with the stream's error halfway through ${size} bytes`, async () => {
        const failures = await refusals(() => [
          failingStream(subject, size, new RangeError("boom")),
        ]);
        expect(failures).toEqual([broken, broken]);
        await expectNothingStored();
      });

      // In Node, streams have no declared length.
      onlyIn(subject, "workerd")(
        `put() refuses a stream that ends before its declared ${size} bytes`,
        async () => {
          const failure = typeError(
            "FixedLengthStream did not see all expected bytes before close().",
          );
          const failures = await refusals(() => [streamOf(subject, bytesOf(size - 1), size)]);
          expect(failures).toEqual([failure, failure]);
          await expectNothingStored();
        },
      );

      onlyIn(subject, "workerd")(
        `put() refuses a stream that is longer than its declared ${size} bytes`,
        async () => {
          const failure = typeError("Attempt to write too many bytes through a FixedLengthStream.");
          const failures = await refusals(() => [streamOf(subject, bytesOf(size + 1), size)]);
          expect(failures).toEqual([failure, failure]);
          await expectNothingStored();
        },
      );
    }

    // Only workerd knows the declared length of a stream.
    onlyIn(subject, "workerd")("put() refuses a stream of unknown length", async () => {
      const failure = typeError(
        "Provided readable stream must have a known length " +
          "(request/response body or readable half of FixedLengthStream)",
      );
      const streams = [
        () => new ReadableStream({ start: (controller) => controller.close() }),
        streamOfUnknownLength,
        () => new TransformStream().readable,
      ];
      for (const stream of streams) {
        expect(await refusals(() => [stream()])).toEqual([failure, failure]);
      }
      await expectNothingStored();
    });

    onlyIn(subject, "node")("put() stores a stream of unknown length", async () => {
      const bytes = bytesOf(inlineBytesMax * 2);
      expect((await bucket.put(key, streamOf(subject, bytes))).size).toBe(bytes.length);
      const content = await (await present(bucket.get(key))).arrayBuffer();
      expect(firstDifference(content, bytes)).toBe(-1);
    });

    // Only FixedLengthStream can declare a length without carrying the bytes.
    onlyIn(subject, "workerd")(
      "put() refuses a declared length of more than 5 GiB less 5 MiB",
      async () => {
        const length = 5 * 1024 ** 3 - 5 * 1024 ** 2 + 1;
        const stream = () => declaredStream(length);
        const failure = storeError("put", 100100);
        expect(await refusals(() => [stream()])).toEqual([failure, failure]);
        await expectNothingStored();
      },
    );

    it("put() refuses symbols", async () => {
      const symbol = Symbol("value");
      const toString = typeError("Cannot convert a Symbol value to a string");
      expect(await failureOf(() => looseBucket(bucket).put(symbol, "x"))).toEqual(toString);
      expect(await refusals(() => [symbol])).toEqual([value, value]);
      expect(await refusals(() => ["new", symbol])).toEqual([options, options]);
      for (const bad of [
        { httpMetadata: { contentType: symbol } },
        { customMetadata: { a: symbol } },
      ]) {
        expect(await refusals(() => ["new", bad])).toEqual([toString, toString]);
      }
      await expectNothingStored();
    });

    it("put() refuses objects that hold content", async () => {
      for (const make of [
        () => () => "x",
        () => new Response("x"),
        () => new URLSearchParams("a=b"),
        () => new FormData(),
      ]) {
        expect(await refusals(() => [make()])).toEqual([value, value]);
      }
      await expectNothingStored();
    });

    it("put() coerces an array of keys to one key", async () => {
      await looseBucket(bucket).put([key, "b"], "x");
      expect(await bucket.head(key)).toBeNull();
      expect(await (await present(bucket.get(`${key},b`))).text()).toBe("x");
    });
  });
}
