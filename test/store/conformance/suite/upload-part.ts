import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StoreBucket, StoreMultipartUpload, StoreValue } from "../../../../src/types/store.ts";
import { bytesOf, firstDifference, inlineBytesMax } from "./content.ts";
import type { Failure } from "./failure.ts";
import {
  anyTypeError,
  failureOf,
  parameterError,
  rangeError,
  storeError,
  typeError,
  valueTypes,
} from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseUpload } from "./loose.ts";
import { parts } from "./parts.ts";
import { present } from "./present.ts";
import {
  bodyOf,
  consumedStream,
  disturbedStream,
  failingStream,
  lockedStream,
  declaredStream,
  streamOf,
  streamOfUnknownLength,
} from "./stream.ts";
import { type Subject, onlyIn } from "./subject.ts";

const notANumber = (actual: number) =>
  typeError(`Part number must be between 1 and 10000 (inclusive). Actual value was: ${actual}`);
const notAnInteger32 = typeError(
  "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
);
const value = parameterError("uploadPart", {
  index: 2,
  type: valueTypes,
  on: "StoreMultipartUpload",
});

const refusedNumbers: [partNumber: unknown, failure: Failure][] = [
  [0, notANumber(0)],
  [-1, notANumber(-1)],
  [10_001, notANumber(10_001)],
  [0.5, notANumber(0)],
  [Number.NaN, notANumber(0)],
  [Number.POSITIVE_INFINITY, notANumber(0)],
  ["one", notANumber(0)],
  ["", notANumber(0)],
  [null, notANumber(0)],
  [undefined, notANumber(0)],
  [2 ** 31, notAnInteger32],
  [2 ** 33, notAnInteger32],
  [-(2 ** 33), notAnInteger32],
  [5n, typeError("Cannot convert a BigInt value to a number")],
];

const coercedNumbers: [given: unknown, partNumber: number][] = [
  ["1", 1],
  [1.5, 1],
  [true, 1],
  [10_000.5, 10_000],
];

const refusedValues: [name: string, value: unknown][] = [
  ["null", null],
  ["undefined", undefined],
  ["a number", 5],
  ["a boolean", true],
  ["a bigint", 1n],
  ["an object", {}],
  ["an array", ["a"]],
  ["a Date", new Date(0)],
];

export function uploadPartSuite(subject: Subject): void {
  describe("uploadPart", () => {
    let bucket: StoreBucket;
    let upload: StoreMultipartUpload;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });
    beforeEach(async () => {
      upload = await bucket.createMultipartUpload(freshKey("upload-part"));
    });

    it("uploadPart() returns the number and the MD5 of the part", async () => {
      const part = await upload.uploadPart(1, parts.abc.content);
      expect(part).toEqual({ partNumber: 1, etag: parts.abc.md5 });
    });

    it("uploadPart() returns the MD5 of a part in a file", async () => {
      const part = await upload.uploadPart(7, parts.a.content);
      expect(part).toEqual({ partNumber: 7, etag: parts.a.md5 });
    });

    for (const partNumber of [1, 2, 9999, 10_000]) {
      it(`uploadPart() takes the part number ${partNumber}`, async () => {
        expect((await upload.uploadPart(partNumber, "x")).partNumber).toBe(partNumber);
      });
    }

    for (const size of [1000, inlineBytesMax, inlineBytesMax + 1]) {
      const bytes = bytesOf(size);
      const larger = new Uint8Array(size + 20);
      larger.set(bytes, 10);
      const kinds: Record<string, () => StoreValue> = {
        "an ArrayBuffer": () => bytes.slice().buffer,
        "a view into a larger buffer": () => larger.subarray(10, 10 + size),
        "a DataView": () => new DataView(larger.buffer, 10, size),
        "a Blob": () => new Blob([bytes]),
        "a stream": () => streamOf(subject, bytes),
        "the body of a response": () => bodyOf(bytes),
      };
      for (const [kind, make] of Object.entries(kinds)) {
        it(`uploadPart() stores ${kind} of ${size} bytes`, async () => {
          await upload.complete([await upload.uploadPart(1, make())]);
          const content = await (await present(bucket.get(upload.key))).arrayBuffer();
          expect(firstDifference(content, bytes)).toBe(-1);
        });
      }
    }

    it("uploadPart() stores a string as UTF-8", async () => {
      await upload.complete([await upload.uploadPart(1, "é€😀")]);
      const object = await present(bucket.get(upload.key));
      expect(object.size).toBe(9);
      expect(await object.text()).toBe("é€😀");
    });

    it("uploadPart() replaces a part of the same number and its etag", async () => {
      const old = await upload.uploadPart(1, "old");
      const replaced = await upload.uploadPart(1, "new");
      expect(replaced.etag).not.toBe(old.etag);
      expect(await failureOf(() => upload.complete([old]))).toEqual(
        storeError("completeMultipartUpload", 10025),
      );
      await upload.complete([replaced]);
      expect(await (await present(bucket.get(upload.key))).text()).toBe("new");
    });

    it("uploadPart() stores each of several concurrent parts", async () => {
      const uploaded = await Promise.all(
        [1, 2, 3].map((partNumber) => upload.uploadPart(partNumber, `part ${partNumber}`)),
      );
      expect(uploaded.map((part) => part.partNumber)).toEqual([1, 2, 3]);
      expect(new Set(uploaded.map((part) => part.etag)).size).toBe(3);
    });

    /** The upload has no part number 1: complete() finds no etag for it. */
    async function expectNoPart(): Promise<void> {
      const part = { partNumber: 1, etag: parts.abc.md5 };
      expect(await failureOf(() => upload.complete([part]))).toEqual(
        storeError("completeMultipartUpload", 10025),
      );
      expect(await bucket.head(upload.key)).toBeNull();
    }

    it("uploadPart() refuses missing arguments", async () => {
      expect(await failureOf(() => looseUpload(upload).uploadPart())).toEqual(
        parameterError("uploadPart", { index: 1, type: "integer", on: "StoreMultipartUpload" }),
      );
      expect(await failureOf(() => looseUpload(upload).uploadPart(1))).toEqual(value);
      await expectNoPart();
    });

    for (const [partNumber, failure] of refusedNumbers) {
      const shown = typeof partNumber === "string" ? `"${partNumber}"` : String(partNumber);
      it(`uploadPart() refuses the part number ${shown} (${typeof partNumber})`, async () => {
        expect(await failureOf(() => looseUpload(upload).uploadPart(partNumber, "abc"))).toEqual(
          failure,
        );
        await expectNoPart();
      });
    }

    for (const [given, partNumber] of coercedNumbers) {
      it(`uploadPart() coerces the part number ${String(given)} (${typeof given})`, async () => {
        const part = await looseUpload(upload).uploadPart(given, "abc");
        expect(part).toEqual({ partNumber, etag: parts.abc.md5 });
      });
    }

    for (const [name, bad] of refusedValues) {
      it(`uploadPart() refuses a value: ${name}`, async () => {
        expect(await failureOf(() => looseUpload(upload).uploadPart(1, bad))).toEqual(value);
        await expectNoPart();
      });
    }

    it("uploadPart() refuses a detached ArrayBuffer", async () => {
      const buffer = new ArrayBuffer(8);
      structuredClone(buffer, { transfer: [buffer] });
      expect(await failureOf(() => upload.uploadPart(1, buffer))).toEqual(anyTypeError);
      await expectNoPart();
    });

    const locked = typeError("The ReadableStream has been locked to a reader.");
    const broken = rangeError("boom");

    it("uploadPart() refuses a locked stream", async () => {
      expect(await failureOf(() => upload.uploadPart(1, lockedStream()))).toEqual(locked);
      await expectNoPart();
    });

    it("uploadPart() refuses a stream that has been read", async () => {
      const stream = await consumedStream();
      expect(await failureOf(() => upload.uploadPart(1, stream))).toEqual(locked);
      await expectNoPart();
    });

    // In Node, a partly read stream delivers the rest.
    onlyIn(subject, "workerd")("uploadPart() refuses a partly read stream", async () => {
      const stream = await disturbedStream(subject);
      expect(await failureOf(() => upload.uploadPart(1, stream))).toEqual(
        typeError("This ReadableStream is disturbed."),
      );
      await expectNoPart();
    });

    for (const size of [10, inlineBytesMax * 3]) {
      it(`uploadPart() fails with the stream's error halfway through ${size} bytes`, async () => {
        const old = await upload.uploadPart(1, parts.abc.content);
        const stream = failingStream(subject, size, new RangeError("boom"));
        expect(await failureOf(() => upload.uploadPart(1, stream))).toEqual(broken);
        // The earlier part is unchanged.
        await upload.complete([old]);
        expect(await (await present(bucket.get(upload.key))).text()).toBe("abc");
      });

      // In Node, streams have no declared length.
      onlyIn(subject, "workerd")(
        `uploadPart() refuses a stream that ends before its declared ${size} bytes`,
        async () => {
          const stream = streamOf(subject, bytesOf(size - 1), size);
          expect(await failureOf(() => upload.uploadPart(1, stream))).toEqual(
            typeError("FixedLengthStream did not see all expected bytes before close()."),
          );
          await expectNoPart();
        },
      );
    }

    // Only workerd knows the declared length of a stream.
    onlyIn(subject, "workerd")("uploadPart() refuses a stream of unknown length", async () => {
      const stream = streamOfUnknownLength();
      expect(await failureOf(() => upload.uploadPart(1, stream))).toEqual(
        typeError(
          "Provided readable stream must have a known length " +
            "(request/response body or readable half of FixedLengthStream)",
        ),
      );
      await expectNoPart();
    });

    // Only FixedLengthStream can declare a length without carrying the bytes.
    onlyIn(subject, "workerd")(
      "uploadPart() refuses a declared length of more than 5 GiB less 5 MiB",
      async () => {
        const stream = declaredStream(5 * 1024 ** 3 - 5 * 1024 ** 2 + 1);
        expect(await failureOf(() => upload.uploadPart(1, stream))).toEqual(
          storeError("uploadPart", 100100),
        );
        await expectNoPart();
      },
    );

    it("uploadPart() refuses symbols", async () => {
      const symbol = Symbol("value");
      expect(await failureOf(() => looseUpload(upload).uploadPart(symbol, "abc"))).toEqual(
        typeError("Cannot convert a Symbol value to a number"),
      );
      expect(await failureOf(() => looseUpload(upload).uploadPart(1, symbol))).toEqual(value);
      await expectNoPart();
    });
  });
}
