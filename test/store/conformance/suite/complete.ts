import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type {
  StoreBucket,
  StoreMultipartUpload,
  StoreRange,
  StoreUploadedPart,
} from "../../../../src/types/store.ts";
import { firstDifference } from "./content.ts";
import type { Failure } from "./failure.ts";
import { anyTypeError, failureOf, parameterError, storeError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseUpload } from "./loose.ts";
import { etags, partBytesMin, parts } from "./parts.ts";
import { present } from "./present.ts";
import { piped } from "./stream.ts";
import type { Subject } from "./subject.ts";

const array = parameterError("complete", { index: 1, type: "Array", on: "StoreMultipartUpload" });
const element = typeError(
  "Incorrect type for array element 0: the provided value is not of type 'UploadedPart'.",
);
const notANumber = (actual: number) =>
  typeError(`Part number must be between 1 and 10000 (inclusive). Actual value was: ${actual}`);
const notAnInteger32 = typeError(
  "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
);
const notFound = storeError("completeMultipartUpload", 10025);
const problem = storeError("completeMultipartUpload", 10048);
const ended = storeError("completeMultipartUpload", 10024);
const etag = parts.abc.md5;

/** For an upload whose only part is number 1, `abc`. */
const refused: [name: string, parameters: unknown[], failure: Failure][] = [
  ["nothing", [], array],
  ["undefined", [undefined], array],
  ["null", [null], array],
  ["a number", [1], array],
  ["a string", ["abc"], array],
  ["an object", [{ partNumber: 1, etag }], array],
  ["a Set", [new Set([{ partNumber: 1, etag }])], array],
  ["an array of numbers", [[1]], element],
  ["an array of strings", [[etag]], element],
  ["an array of null", [[null]], anyTypeError],
  ["a part without fields", [[{}]], notANumber(0)],
  ["a part without a number", [[{ etag }]], notANumber(0)],
  ["part number 0", [[{ partNumber: 0, etag }]], notANumber(0)],
  ["part number -1", [[{ partNumber: -1, etag }]], notANumber(-1)],
  ["part number 10001", [[{ partNumber: 10_001, etag }]], notANumber(10_001)],
  ["part number NaN", [[{ partNumber: Number.NaN, etag }]], notANumber(0)],
  ["part number 2^33", [[{ partNumber: 2 ** 33, etag }]], notAnInteger32],
  ["a part without an etag", [[{ partNumber: 1 }]], notFound],
  ["an etag that is null", [[{ partNumber: 1, etag: null }]], notFound],
  ["an etag that is a number", [[{ partNumber: 1, etag: 1 }]], notFound],
  ["an empty etag", [[{ partNumber: 1, etag: "" }]], notFound],
  ["an etag of another content", [[{ partNumber: 1, etag: parts.tail.md5 }]], notFound],
  ["a part that was not uploaded", [[{ partNumber: 2, etag }]], notFound],
  [
    "one part that was not uploaded among others",
    [
      [
        { partNumber: 1, etag },
        { partNumber: 2, etag },
      ],
    ],
    notFound,
  ],
  ["no parts", [[]], problem],
  [
    "a part twice",
    [
      [
        { partNumber: 1, etag },
        { partNumber: 1, etag },
      ],
    ],
    problem,
  ],
];

export function completeSuite(subject: Subject): void {
  describe("complete", () => {
    let bucket: StoreBucket;
    let upload: StoreMultipartUpload;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });
    beforeEach(async () => {
      upload = await bucket.createMultipartUpload(freshKey("complete"));
    });

    const complete = (parameter: unknown) =>
      failureOf(() => looseUpload(upload).complete(parameter));

    it("complete() creates an object from one part of any size", async () => {
      const object = await upload.complete([await upload.uploadPart(1, parts.abc.content)]);
      expect(object.key).toBe(upload.key);
      expect(object.size).toBe(3);
      expect(object.etag).toBe(etags.abc);
      expect(object.httpEtag).toBe(`"${etags.abc}"`);
      expect(object.uploaded).toBeInstanceOf(Date);
      const head = await present(bucket.head(upload.key));
      expect(head.version).toBe(object.version);
      expect(head.etag).toBe(etags.abc);
      expect(head.range).toEqual({ offset: 0, length: 3 });
    });

    it("complete() replaces the object under the key", async () => {
      const old = await bucket.put(upload.key, "old", { customMetadata: { old: "yes" } });
      const object = await upload.complete([await upload.uploadPart(1, "new")]);
      const read = await present(bucket.get(upload.key));
      expect(read.version).toBe(object.version);
      expect(read.version).not.toBe(old.version);
      expect(read.customMetadata).toEqual({});
      expect(await read.text()).toBe("new");
    });

    it("complete() discards the parts that it is not given", async () => {
      await upload.uploadPart(1, "left out");
      const object = await upload.complete([await upload.uploadPart(2, parts.abc.content)]);
      expect(object.size).toBe(3);
      expect(await (await present(bucket.get(upload.key))).text()).toBe("abc");
    });

    it("complete() succeeds for one of two concurrent calls", async () => {
      const part = await upload.uploadPart(1, parts.abc.content);
      const results = await Promise.all([1, 2].map(() => failureOf(() => upload.complete([part]))));
      expect(results.filter((result) => "resolved" in result)).toHaveLength(1);
      expect(results.filter((result) => "error" in result)).toEqual([ended]);
    });

    it("complete() coerces part numbers", async () => {
      await upload.uploadPart(1, parts.abc.content);
      await looseUpload(upload).complete([{ partNumber: "1", etag }]);
      expect(await (await present(bucket.get(upload.key))).text()).toBe("abc");
    });

    it("complete() does not change the array it is given", async () => {
      const given = [await upload.uploadPart(1, parts.abc.content)];
      const before = structuredClone(given);
      await upload.complete(given);
      expect(given).toEqual(before);
    });

    it("complete() ends the upload for later calls", async () => {
      const part = await upload.uploadPart(1, parts.abc.content);
      const { version } = await upload.complete([part]);
      expect(await failureOf(() => upload.complete([part]))).toEqual(ended);
      expect(await failureOf(() => upload.uploadPart(1, "late"))).toEqual(
        storeError("uploadPart", 10024),
      );
      expect((await present(bucket.head(upload.key))).version).toBe(version);
    });

    describe("bad input", () => {
      for (const [name, parameters, failure] of refused) {
        it(`complete() refuses ${name}, and the upload stays in progress`, async () => {
          const part = await upload.uploadPart(1, parts.abc.content);
          expect(await failureOf(() => looseUpload(upload).complete(...parameters))).toEqual(
            failure,
          );
          expect(await bucket.head(upload.key)).toBeNull();
          expect((await upload.complete([part])).size).toBe(3);
        });
      }

      it("complete() refuses symbols", async () => {
        const symbol = Symbol("value");
        expect(await complete(symbol)).toEqual(array);
        expect(await complete([{ partNumber: symbol, etag }])).toEqual(
          typeError("Cannot convert a Symbol value to a number"),
        );
        expect(await complete([{ partNumber: 1, etag: symbol }])).toEqual(
          typeError("Cannot convert a Symbol value to a string"),
        );
      });
    });

    it("complete() refuses a small part before the last", async () => {
      const first = await upload.uploadPart(1, "abc");
      const second = await upload.uploadPart(2, "def");
      expect(await failureOf(() => upload.complete([first, second]))).toEqual(
        storeError("completeMultipartUpload", 10011),
      );
      expect(await bucket.head(upload.key)).toBeNull();
    });

    it("complete() refuses a part of 5 MiB less a byte before the last", async () => {
      const first = await upload.uploadPart(1, parts.a.content.subarray(1));
      const second = await upload.uploadPart(2, "x");
      expect(await failureOf(() => upload.complete([first, second]))).toEqual(
        storeError("completeMultipartUpload", 10011),
      );
      expect(await bucket.head(upload.key)).toBeNull();
    });

    /** 5 MiB of a, 5 MiB of b and four bytes, with a gap in the part numbers, out of order. */
    describe("large parts", () => {
      const key = freshKey("complete");
      let object: Awaited<ReturnType<StoreMultipartUpload["complete"]>>;
      beforeAll(async () => {
        const large = await bucket.createMultipartUpload(key);
        const last = await large.uploadPart(10_000, parts.tail.content);
        const second = await large.uploadPart(3, parts.b.content);
        const first = await large.uploadPart(1, parts.a.content);
        object = await large.complete([last, first, second]);
      });

      it("complete() joins the parts in the order of their numbers", async () => {
        expect(object.size).toBe(partBytesMin * 2 + 4);
        const content = await (await present(bucket.get(key))).bytes();
        expect(firstDifference(content.subarray(0, partBytesMin), parts.a.content)).toBe(-1);
        expect(
          firstDifference(content.subarray(partBytesMin, partBytesMin * 2), parts.b.content),
        ).toBe(-1);
        expect(new TextDecoder().decode(content.subarray(partBytesMin * 2))).toBe("tail");
      });

      it("complete() computes the etag from the MD5s of the parts", async () => {
        expect(object.etag).toBe(etags.aThenBThenTail);
        expect((await present(bucket.head(key))).etag).toBe(etags.aThenBThenTail);
      });

      const rangeRows: [range: StoreRange, text: string][] = [
        [{ offset: 0, length: 3 }, "aaa"],
        [{ offset: partBytesMin - 2, length: 4 }, "aabb"],
        [{ offset: partBytesMin, length: 2 }, "bb"],
        [{ offset: partBytesMin * 2 - 1, length: 3 }, "bta"],
        [{ offset: partBytesMin * 2 + 3 }, "l"],
        [{ suffix: 6 }, "bbtail"],
      ];
      for (const [range, text] of rangeRows) {
        it(`get() serves ${JSON.stringify(range)} across parts`, async () => {
          const read = await present(bucket.get(key, { range }));
          expect(read.range?.length).toBe(text.length);
          expect(await read.text()).toBe(text);
        });
      }

      it("get() serves a range over three parts", async () => {
        const range = { offset: partBytesMin - 1, length: partBytesMin + 3 };
        const content = await (await present(bucket.get(key, { range }))).bytes();
        expect(content.length).toBe(partBytesMin + 3);
        expect(new TextDecoder().decode(content.subarray(0, 3))).toBe("abb");
        expect(new TextDecoder().decode(content.subarray(-3))).toBe("bta");
      });

      it("body of a range over three parts can be piped", async () => {
        const range = { offset: partBytesMin - 1, length: partBytesMin + 3 };
        const { body } = await present(bucket.get(key, { range }));
        const content = await new Response(piped(subject, body)).arrayBuffer();
        expect(content.byteLength).toBe(partBytesMin + 3);
        expect(new TextDecoder().decode(content.slice(-3))).toBe("bta");
      });

      it("body of a range over two parts can be stored under another key", async () => {
        const copy = freshKey("complete");
        const range = { offset: partBytesMin * 2 - 2 };
        const { body } = await present(bucket.get(key, { range }));
        expect((await bucket.put(copy, body)).size).toBe(6);
        expect(await (await present(bucket.get(copy))).text()).toBe("bbtail");
      });

      it("body of all parts can be stored under another key", async () => {
        const copy = freshKey("complete");
        const { body } = await present(bucket.get(key));
        expect((await bucket.put(copy, body)).size).toBe(partBytesMin * 2 + 4);
        const end = await present(bucket.get(copy, { range: { suffix: 6 } }));
        expect(await end.text()).toBe("bbtail");
      });

      it("body of all parts can be cancelled", async () => {
        const { body } = await present(bucket.get(key));
        await body.cancel();
        expect((await present(bucket.head(key))).size).toBe(partBytesMin * 2 + 4);
      });

      it("get() cannot satisfy a range after the last part", async () => {
        const range = { offset: partBytesMin * 2 + 4 };
        expect(await failureOf(() => bucket.get(key, { range }))).toEqual(storeError("get", 10039));
      });
    });

    /** One upload with parts of three sizes, of which each test completes some. */
    describe("unequal parts", () => {
      let unequal: StoreMultipartUpload;
      let large: StoreUploadedPart;
      let larger: StoreUploadedPart;
      let small: StoreUploadedPart;
      beforeAll(async () => {
        unequal = await bucket.createMultipartUpload(freshKey("complete"));
        large = await unequal.uploadPart(1, parts.a.content);
        larger = await unequal.uploadPart(2, new Uint8Array(partBytesMin + 1));
        small = await unequal.uploadPart(3, parts.tail.content);
      });

      it("complete() refuses a last part that is larger than the others", async () => {
        expect(await failureOf(() => unequal.complete([large, larger]))).toEqual(problem);
        expect(await bucket.head(unequal.key)).toBeNull();
      });

      it("complete() refuses parts of different sizes before the last", async () => {
        expect(await failureOf(() => unequal.complete([large, larger, small]))).toEqual(problem);
        expect(await bucket.head(unequal.key)).toBeNull();
      });

      it("complete() takes parts of valid sizes after it refused others", async () => {
        const object = await unequal.complete([large, small]);
        expect(object.size).toBe(partBytesMin + 4);
        expect(object.etag).toBe(etags.aThenTail);
      });
    });
  });
}
