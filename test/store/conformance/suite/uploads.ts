/** Multipart uploads: create, resume, parts, complete, abort, and their end after 7 days. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type {
  StoreMultipartUpload,
  StoreRange,
  StoreUploadedPart,
} from "../../../../src/types/store.ts";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import {
  type Action,
  anyTypeError,
  type ErrorCode,
  type Failure,
  failureOf,
  notANumber,
  notAString,
  notAnInteger32,
  parameterError,
  storeError,
  typeError,
} from "./failures.ts";
import {
  bucket,
  bytesAt,
  env,
  freshKey,
  headOf,
  loose,
  loosely,
  present,
  textOf,
} from "./subject.ts";
import { etags, inlineBytesMax, kinds, partBytesMin, parts, piped } from "./values.ts";

const etag = parts.abc.md5;
const create = (key = freshKey()) => bucket.createMultipartUpload(key);
const ended = (action: Action) => storeError(action, 10024);
const notFound = storeError("completeMultipartUpload", 10025);
const problem = storeError("completeMultipartUpload", 10048);

/** Each method of the upload fails with the code. */
async function expectFailing(upload: StoreMultipartUpload, code: ErrorCode, abort = true) {
  const part = { partNumber: 1, etag };
  await expect(() => upload.uploadPart(1, "abc")).toFailWith(storeError("uploadPart", code));
  const completion = storeError("completeMultipartUpload", code);
  await expect(() => upload.complete([part])).toFailWith(completion);
  if (!abort) return;
  await expect(() => upload.abort()).toFailWith(storeError("abortMultipartUpload", code));
}

export function createUploadSuite(): void {
  describe("createMultipartUpload", () => {
    it("createMultipartUpload() returns the key and a unique uploadId", async () => {
      const key = freshKey();
      const [first, second] = [await create(key), await create(key)];
      expect(first.key).toBe(key);
      expect(typeof first.uploadId).toBe("string");
      expect(first.uploadId).not.toBe("");
      expect(second.uploadId).not.toBe(first.uploadId);
      expect(JSON.parse(JSON.stringify(first))).toEqual({ key, uploadId: first.uploadId });
    });

    it("createMultipartUpload() stores nothing and replaces nothing", async () => {
      const { key } = await create();
      expect(await bucket.head(key)).toBeNull();
      const { version } = await bucket.put(key, "old");
      await (await create(key)).uploadPart(1, "new");
      expect((await headOf(key)).version).toBe(version);
    });
  });

  /** resumeMultipartUpload() is synchronous, and checks only the number of arguments. */
  describe("resumeMultipartUpload", () => {
    it("resumeMultipartUpload() returns an upload and not a promise", () => {
      const upload = bucket.resumeMultipartUpload("key", "id");
      expect(upload).not.toBeInstanceOf(Promise);
      expect(JSON.parse(JSON.stringify(upload))).toEqual({ key: "key", uploadId: "id" });
    });

    it("resumeMultipartUpload() continues an upload, also through another binding", async () => {
      for (const other of [bucket, env.TRAILING]) {
        const { key, uploadId } = await create();
        const part = await other.resumeMultipartUpload(key, uploadId).uploadPart(1, "abc");
        const object = await bucket.resumeMultipartUpload(key, uploadId).complete([part]);
        expect(object.etag).toBe(etags.abc);
        expect(await (await present(other.get(key))).text()).toBe("abc");
      }
    });

    it.each<[name: string, key: string, uploadId: string, code: ErrorCode]>([
      ["an unknown uploadId", "key", "unknown", 10024],
      ["an empty uploadId", "key", "", 10024],
      ["an uploadId of 10000 characters", "key", "u".repeat(10_000), 10024],
      ["an empty key", "", "unknown", 10020],
      ["a key of more than 1024 bytes", "k".repeat(1025), "unknown", 10020],
    ])("takes %s, and methods of the upload fail", async (_, key, uploadId, code) => {
      const upload = bucket.resumeMultipartUpload(key, uploadId);
      expect([upload.key, upload.uploadId]).toEqual([key, uploadId]);
      await expectFailing(upload, code);
    });

    it("resumeMultipartUpload() with another key does not find the upload", async () => {
      const created = await create();
      const part = await created.uploadPart(1, "abc");
      const other = freshKey();
      await expectFailing(bucket.resumeMultipartUpload(other, created.uploadId), 10024);
      expect(await bucket.head(other)).toBeNull();
      await created.complete([part]);
      expect(await textOf(created.key)).toBe("abc");
    });

    it("resumeMultipartUpload() throws synchronously for a missing argument or a symbol", () => {
      const symbol = Symbol("value");
      for (const [given, { message }] of [
        [[], parameterError("resumeMultipartUpload", 1, "string")],
        [["key"], parameterError("resumeMultipartUpload", 2, "string")],
        [[symbol, "id"], notAString],
        [["key", symbol], notAString],
      ] as const) {
        expect(() => loose.resumeMultipartUpload(...given)).toThrow(TypeError);
        expect(() => loose.resumeMultipartUpload(...given)).toThrow(message);
      }
    });
  });
}

const notAPart = (actual: number) =>
  typeError(`Part number must be between 1 and 10000 (inclusive). Actual value was: ${actual}`);

const refusedNumbers: [partNumber: unknown, failure: Failure][] = [
  ...[0, -1, 10_001].map((number): [unknown, Failure] => [number, notAPart(number)]),
  ...[0.5, Number.NaN, Number.POSITIVE_INFINITY, "one", "", null, undefined].map(
    (value): [unknown, Failure] => [value, notAPart(0)],
  ),
  ...[2 ** 31, 2 ** 33, -(2 ** 33)].map((number): [unknown, Failure] => [number, notAnInteger32]),
  [5n, typeError("Cannot convert a BigInt value to a number")],
  [Symbol("number"), notANumber],
];

/** Bad values are in `arguments.ts`. */
export function uploadPartSuite(): void {
  describe("uploadPart", () => {
    let upload: StoreMultipartUpload;
    beforeEach(async () => {
      upload = await create();
    });

    it("uploadPart() returns the number and the MD5 of the part, also of one in a file", async () => {
      expect(await upload.uploadPart(1, "abc")).toEqual({ partNumber: 1, etag });
      const part = await upload.uploadPart(7, parts.a.content);
      expect(part).toEqual({ partNumber: 7, etag: parts.a.md5 });
    });

    it.each<[given: unknown, partNumber: number]>([
      [1, 1],
      [2, 2],
      [9999, 9999],
      [10_000, 10_000],
      ["1", 1],
      [1.5, 1],
      [true, 1],
      [10_000.5, 10_000],
    ])("uploadPart() takes the part number %j", async (given, partNumber) => {
      expect(await loosely(upload).uploadPart(given, "abc")).toEqual({ partNumber, etag });
    });

    it.each(refusedNumbers)("uploadPart() refuses the part number %o", async (given, failure) => {
      await expect(() => loosely(upload).uploadPart(given, "abc")).toFailWith(failure);
      await expect(() => upload.complete([{ partNumber: 1, etag }])).toFailWith(notFound);
    });

    it("uploadPart() refuses missing arguments", async () => {
      const failure = parameterError("uploadPart", 1, "integer");
      await expect(() => loosely(upload).uploadPart()).toFailWith(failure);
    });

    for (const [kind, make] of Object.entries(kinds)) {
      it.each([1000, inlineBytesMax, inlineBytesMax + 1])(
        `uploadPart() stores ${kind} of %i bytes`,
        async (size) => {
          const bytes = bytesOf(size);
          await upload.complete([await upload.uploadPart(1, make(bytes))]);
          expect(sameBytes(await bytesAt(upload.key), bytes)).toBe(true);
        },
      );
    }

    it("uploadPart() stores a string as UTF-8", async () => {
      const object = await upload.complete([await upload.uploadPart(1, "é€😀")]);
      expect(object.size).toBe(9);
      expect(await textOf(upload.key)).toBe("é€😀");
    });

    it("uploadPart() replaces a part of the same number and its etag", async () => {
      const old = await upload.uploadPart(1, "old");
      const replaced = await upload.uploadPart(1, "new");
      expect(replaced.etag).not.toBe(old.etag);
      await expect(() => upload.complete([old])).toFailWith(notFound);
      await upload.complete([replaced]);
      expect(await textOf(upload.key)).toBe("new");
    });

    it("uploadPart() stores each of several concurrent parts", async () => {
      const uploaded = await Promise.all(
        [1, 2, 3].map((partNumber) => upload.uploadPart(partNumber, `part ${partNumber}`)),
      );
      expect(uploaded.map((part) => part.partNumber)).toEqual([1, 2, 3]);
      expect(new Set(uploaded.map((part) => part.etag)).size).toBe(3);
    });
  });
}

const array = parameterError("complete", 1, "Array");
const element = typeError(
  "Incorrect type for array element 0: the provided value is not of type 'UploadedPart'.",
);
const one = { partNumber: 1, etag };
const symbol = Symbol("value");

/** For an upload whose only part is number 1, `abc`. */
const refusedParts: [name: string, parameters: unknown[], failure: Failure][] = [
  ["nothing", [], array],
  ...[undefined, null, 1, "abc", symbol].map((value): (typeof refusedParts)[number] => [
    String(value),
    [value],
    array,
  ]),
  ["an object", [one], array],
  ["a Set", [new Set([one])], array],
  ["an array of numbers", [[1]], element],
  ["an array of strings", [[etag]], element],
  ["an array of null", [[null]], anyTypeError],
  ["a part without fields", [[{}]], notAPart(0)],
  ["a part without a number", [[{ etag }]], notAPart(0)],
  ...[0, -1, 10_001].map((partNumber): (typeof refusedParts)[number] => [
    `part number ${partNumber}`,
    [[{ partNumber, etag }]],
    notAPart(partNumber),
  ]),
  ["part number NaN", [[{ partNumber: Number.NaN, etag }]], notAPart(0)],
  ["part number 2^33", [[{ partNumber: 2 ** 33, etag }]], notAnInteger32],
  ["a part number that is a symbol", [[{ partNumber: symbol, etag }]], notANumber],
  ["an etag that is a symbol", [[{ partNumber: 1, etag: symbol }]], notAString],
  ...[undefined, null, 1, "", parts.tail.md5].map((other): (typeof refusedParts)[number] => [
    `the etag ${other} (${typeof other})`,
    [[{ partNumber: 1, etag: other }]],
    notFound,
  ]),
  ["a part that was not uploaded", [[{ partNumber: 2, etag }]], notFound],
  ["one part that was not uploaded among others", [[one, { partNumber: 2, etag }]], notFound],
  ["no parts", [[]], problem],
  ["a part twice", [[one, one]], problem],
];

export function completeSuite(): void {
  describe("complete", () => {
    let upload: StoreMultipartUpload;
    beforeEach(async () => {
      upload = await create();
    });

    it("complete() creates an object from one part of any size, without an MD5", async () => {
      const object = await upload.complete([await upload.uploadPart(1, "abc")]);
      expect(object).toMatchObject({ key: upload.key, size: 3, etag: etags.abc });
      expect(object.httpEtag).toBe(`"${etags.abc}"`);
      expect(object.uploaded).toBeInstanceOf(Date);
      expect(object.checksums.md5).toBeUndefined();
      const head = await headOf(upload.key);
      expect([head.version, head.etag]).toEqual([object.version, etags.abc]);
      expect(head.range).toEqual({ offset: 0, length: 3 });
      for (const { checksums } of [object, head]) expect(checksums.toJSON()).toEqual({});
    });

    it("complete() replaces the object under the key", async () => {
      const old = await bucket.put(upload.key, "old", { customMetadata: { old: "yes" } });
      const { version } = await upload.complete([await upload.uploadPart(1, "new")]);
      const read = await present(bucket.get(upload.key));
      expect(read.version).toBe(version);
      expect(version).not.toBe(old.version);
      expect(read.customMetadata).toEqual({});
      expect(await read.text()).toBe("new");
    });

    it("complete() discards the parts that it is not given", async () => {
      await upload.uploadPart(1, "left out");
      const object = await upload.complete([await upload.uploadPart(2, "abc")]);
      expect(object.size).toBe(3);
      expect(await textOf(upload.key)).toBe("abc");
    });

    it("complete() succeeds for one of two concurrent calls", async () => {
      const part = await upload.uploadPart(1, "abc");
      const results = await Promise.all([1, 2].map(() => failureOf(() => upload.complete([part]))));
      expect(results.filter((result) => "resolved" in result)).toHaveLength(1);
      const failures = results.filter((result) => "error" in result);
      expect(failures).toEqual([ended("completeMultipartUpload")]);
    });

    it("complete() coerces part numbers, and does not change the array it is given", async () => {
      await upload.uploadPart(1, "abc");
      const given = [{ partNumber: "1", etag }];
      await loosely(upload).complete(given);
      expect(given).toEqual([{ partNumber: "1", etag }]);
      expect(await textOf(upload.key)).toBe("abc");
    });

    it("complete() ends the upload for later calls, and abort() then does nothing", async () => {
      const part = await upload.uploadPart(1, "abc");
      const { version } = await upload.complete([part]);
      await expectFailing(upload, 10024, false);
      expect(await upload.abort()).toBeUndefined();
      expect((await headOf(upload.key)).version).toBe(version);
      expect(await textOf(upload.key)).toBe("abc");
    });

    it.each(refusedParts)(
      "complete() refuses %s, and the upload stays",
      async (_, given, failure) => {
        const part = await upload.uploadPart(1, "abc");
        await expect(() => loosely(upload).complete(...given)).toFailWith(failure);
        expect(await bucket.head(upload.key)).toBeNull();
        expect((await upload.complete([part])).size).toBe(3);
      },
    );

    it.each([
      ["a small part", "abc"],
      ["a part of 5 MiB less a byte", parts.a.content.subarray(1)],
    ])("complete() refuses %s before the last", async (_, content) => {
      const given = [await upload.uploadPart(1, content), await upload.uploadPart(2, "def")];
      const failure = storeError("completeMultipartUpload", 10011);
      await expect(() => upload.complete(given)).toFailWith(failure);
      expect(await bucket.head(upload.key)).toBeNull();
    });

    /** 5 MiB of a, 5 MiB of b and four bytes, with a gap in the part numbers, out of order. */
    describe("large parts", () => {
      const key = freshKey();
      const size = partBytesMin * 2 + 4;
      beforeAll(async () => {
        const large = await create(key);
        const last = await large.uploadPart(10_000, parts.tail.content);
        const second = await large.uploadPart(3, parts.b.content);
        const first = await large.uploadPart(1, parts.a.content);
        const object = await large.complete([last, first, second]);
        expect([object.size, object.etag]).toEqual([size, etags.aThenBThenTail]);
      });
      const get = (range?: StoreRange) => present(bucket.get(key, range && { range }));

      it("complete() joins the parts in the order of their numbers", async () => {
        expect((await headOf(key)).etag).toBe(etags.aThenBThenTail);
        const content = await bytesAt(key);
        const [start, end] = [partBytesMin, partBytesMin * 2];
        expect(sameBytes(content.subarray(0, start), parts.a.content)).toBe(true);
        expect(sameBytes(content.subarray(start, end), parts.b.content)).toBe(true);
        expect(new TextDecoder().decode(content.subarray(end))).toBe("tail");
      });

      it.each<[range: StoreRange, text: string]>([
        [{ offset: 0, length: 3 }, "aaa"],
        [{ offset: partBytesMin - 2, length: 4 }, "aabb"],
        [{ offset: partBytesMin, length: 2 }, "bb"],
        [{ offset: partBytesMin * 2 - 1, length: 3 }, "bta"],
        [{ offset: partBytesMin * 2 + 3 }, "l"],
        [{ suffix: 6 }, "bbtail"],
      ])("get() serves %j across parts", async (range, text) => {
        const read = await get(range);
        expect(read.range?.length).toBe(text.length);
        expect(await read.text()).toBe(text);
      });

      it("get() serves a range over three parts, also through a pipe", async () => {
        const range = { offset: partBytesMin - 1, length: partBytesMin + 3 };
        const through = new Response(piped((await get(range)).body));
        for (const content of [await (await get(range)).bytes(), await through.bytes()]) {
          expect(content.length).toBe(partBytesMin + 3);
          expect(new TextDecoder().decode(content.subarray(0, 3))).toBe("abb");
          expect(new TextDecoder().decode(content.subarray(-3))).toBe("bta");
        }
      });

      it("body of all parts, and of a range over two, can be stored under another key", async () => {
        const copy = freshKey();
        const tail = (await get({ offset: partBytesMin * 2 - 2 })).body;
        expect((await bucket.put(copy, tail)).size).toBe(6);
        expect(await textOf(copy)).toBe("bbtail");
        expect((await bucket.put(copy, (await get()).body)).size).toBe(size);
        const end = await present(bucket.get(copy, { range: { suffix: 6 } }));
        expect(await end.text()).toBe("bbtail");
      });

      it("body of all parts can be cancelled, and a range after the last fails", async () => {
        await (await get()).body.cancel();
        expect((await headOf(key)).size).toBe(size);
        await expect(() => get({ offset: size })).toFailWith(storeError("get", 10039));
      });
    });

    it("complete() refuses parts of unequal sizes, and then takes some of valid sizes", async () => {
      const large = await upload.uploadPart(1, parts.a.content);
      const larger = await upload.uploadPart(2, new Uint8Array(partBytesMin + 1));
      const small = await upload.uploadPart(3, parts.tail.content);
      // A last part that is larger than the others, and different sizes before the last
      for (const given of [
        [large, larger],
        [large, larger, small],
      ] satisfies StoreUploadedPart[][]) {
        await expect(() => upload.complete(given)).toFailWith(problem);
        await expect(upload.complete(given)).rejects.toHaveProperty(
          "cause.message",
          "All non-trailing parts must have the same length. Non Uniform Part Sizes: " +
            `Expected part 2 to have size ${partBytesMin}, found ${partBytesMin + 1}`,
        );
        expect(await bucket.head(upload.key)).toBeNull();
      }
      const object = await upload.complete([large, small]);
      expect([object.size, object.etag]).toEqual([partBytesMin + 4, etags.aThenTail]);
    });
  });
}

export function abortSuite(): void {
  describe("abort", () => {
    it("abort() ends the upload, resolves with undefined, and may be repeated", async () => {
      const upload = await create();
      await upload.uploadPart(1, "abc");
      await upload.uploadPart(2, bytesOf(inlineBytesMax + 1));
      expect(await upload.abort()).toBeUndefined();
      await expectFailing(upload, 10024, false);
      expect(await bucket.head(upload.key)).toBeNull();
      expect(await upload.abort()).toBeUndefined();
      const resumed = bucket.resumeMultipartUpload(upload.key, upload.uploadId);
      expect(await resumed.abort()).toBeUndefined();
    });

    it("abort() does not change the object under the key, or other uploads of the key", async () => {
      const upload = await create();
      const { version } = await bucket.put(upload.key, "old");
      const other = await create(upload.key);
      const part = await other.uploadPart(1, "abc");
      await upload.uploadPart(1, "new");
      await upload.abort();
      expect((await headOf(upload.key)).version).toBe(version);
      expect((await other.complete([part])).size).toBe(3);
    });
  });
}

const second = 1000;
const day = 24 * 60 * 60 * second;

export function expirySuite(): void {
  describe("expiry", () => {
    afterEach(() => env.STORE_CONTROL.resetClock());

    it("uploads end after 7 days and a second, also when the clock is reset", async () => {
      const upload = await create();
      await upload.uploadPart(1, "abc");
      await upload.uploadPart(2, bytesOf(inlineBytesMax + 1));
      await env.STORE_CONTROL.advance(7 * day + second);
      await expectFailing(upload, 10024, false);
      expect(await bucket.head(upload.key)).toBeNull();
      await env.STORE_CONTROL.resetClock();
      await expectFailing(upload, 10024, false);
    });

    it("complete() succeeds after 7 days less a minute", async () => {
      const upload = await create();
      const part = await upload.uploadPart(1, "x");
      // A minute instead of a second, because the test itself takes time.
      await env.STORE_CONTROL.advance(7 * day - 60 * second);
      await upload.uploadPart(2, "in time");
      expect((await upload.complete([part])).size).toBe(1);
    });

    it("uploadPart() does not prolong an upload", async () => {
      const upload = await create();
      await env.STORE_CONTROL.advance(4 * day);
      const part = await upload.uploadPart(1, "x");
      await env.STORE_CONTROL.advance(4 * day);
      const failure = ended("completeMultipartUpload");
      await expect(() => upload.complete([part])).toFailWith(failure);
    });

    it("objects, completed uploads and new uploads live on", async () => {
      const key = freshKey();
      await bucket.put(key, "put");
      await create();
      const upload = await create();
      await upload.complete([await upload.uploadPart(1, bytesOf(inlineBytesMax + 1))]);
      await env.STORE_CONTROL.advance(30 * day);
      expect(await textOf(key)).toBe("put");
      expect((await bytesAt(upload.key)).length).toBe(inlineBytesMax + 1);
      const later = await create();
      expect((await later.complete([await later.uploadPart(1, "x")])).size).toBe(1);
    });
  });
}
