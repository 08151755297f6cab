import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import type { Failure } from "./failure.ts";
import {
  anyTypeError,
  failureOf,
  fieldError,
  parameterError,
  storeError,
  typeError,
} from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

const options = parameterError("createMultipartUpload", { index: 2, type: "MultipartOptions" });
const httpMetadataField = fieldError("httpMetadata", {
  on: "MultipartOptions",
  type: "HttpMetadata or Headers",
});
const customMetadataField = fieldError("customMetadata", {
  on: "MultipartOptions",
  type: "object",
});
const refused: [name: string, options: unknown, failure: Failure][] = [
  ["a number", 1, options],
  ["a string", "options", options],
  ["a boolean", true, options],
  ["httpMetadata: a number", { httpMetadata: 1 }, httpMetadataField],
  ["httpMetadata: a string", { httpMetadata: "text/plain" }, httpMetadataField],
  [
    "cacheExpiry: a string",
    { httpMetadata: { cacheExpiry: "tomorrow" } },
    fieldError("cacheExpiry", { on: "HttpMetadata", type: "date" }),
  ],
  [
    "cacheExpiry: an invalid Date",
    { httpMetadata: { cacheExpiry: new Date(Number.NaN) } },
    typeError("The value cannot be converted because it is not a valid Date."),
  ],
  [
    "cacheExpiry: a far date",
    { httpMetadata: { cacheExpiry: new Date(1e15) } },
    typeError("This API doesn't support dates after 2189."),
  ],
  ["customMetadata: a number", { customMetadata: 1 }, customMetadataField],
  ["customMetadata: a string", { customMetadata: "a=b" }, customMetadataField],
  ["customMetadata: an array", { customMetadata: ["a"] }, customMetadataField],
  ["customMetadata: null", { customMetadata: null }, customMetadataField],
  ["storageClass: unknown", { storageClass: "Glacier" }, anyTypeError],
  ["storageClass: a number", { storageClass: 1 }, anyTypeError],
];

const allowed: [name: string, options: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["an empty object", {}],
  ["httpMetadata: null", { httpMetadata: null }],
  ["undefined fields", { httpMetadata: undefined, customMetadata: undefined }],
];

export function createMultipartUploadSuite(subject: Subject): void {
  describe("createMultipartUpload", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    it("createMultipartUpload() returns the key and a unique uploadId", async () => {
      const key = freshKey("create");
      const first = await bucket.createMultipartUpload(key);
      const second = await bucket.createMultipartUpload(key);
      expect(first.key).toBe(key);
      expect(typeof first.uploadId).toBe("string");
      expect(first.uploadId).not.toBe("");
      expect(second.uploadId).not.toBe(first.uploadId);
      expect(JSON.parse(JSON.stringify(first))).toEqual({ key, uploadId: first.uploadId });
    });

    it("createMultipartUpload() stores nothing and replaces nothing", async () => {
      const key = freshKey("create");
      await bucket.createMultipartUpload(key);
      expect(await bucket.head(key)).toBeNull();
      const { version } = await bucket.put(key, "old");
      const upload = await bucket.createMultipartUpload(key);
      await upload.uploadPart(1, "new");
      expect((await present(bucket.head(key))).version).toBe(version);
    });

    it("createMultipartUpload() sets the metadata of the object", async () => {
      const key = freshKey("create");
      const httpMetadata = { contentType: "video/mp4", cacheExpiry: new Date(1_900_000_000_000) };
      const upload = await bucket.createMultipartUpload(key, {
        httpMetadata,
        customMetadata: { a: "b" },
      });
      const object = await upload.complete([await upload.uploadPart(1, "x")]);
      expect(object.httpMetadata).toEqual(httpMetadata);
      expect(object.customMetadata).toEqual({ a: "b" });
      const head = await present(bucket.head(key));
      expect(head.httpMetadata).toEqual(httpMetadata);
      expect(head.customMetadata).toEqual({ a: "b" });
    });

    it("createMultipartUpload() takes httpMetadata from headers", async () => {
      const key = freshKey("create");
      const httpMetadata = new Headers({ "content-type": "a/b", "x-other": "1" });
      const upload = await bucket.createMultipartUpload(key, { httpMetadata });
      const object = await upload.complete([await upload.uploadPart(1, "x")]);
      expect(object.httpMetadata).toEqual({ contentType: "a/b" });
    });

    it("createMultipartUpload() coerces metadata", async () => {
      const key = freshKey("create");
      const upload = (await looseBucket(bucket).createMultipartUpload(key, {
        httpMetadata: { contentType: 1 },
        customMetadata: { a: 2, b: null },
      })) as Awaited<ReturnType<StoreBucket["createMultipartUpload"]>>;
      const object = await upload.complete([await upload.uploadPart(1, "x")]);
      expect(object.httpMetadata).toEqual({ contentType: "1" });
      expect(object.customMetadata).toEqual({ a: "2", b: "null" });
    });

    it("createMultipartUpload() refuses a missing key", async () => {
      expect(await failureOf(() => looseBucket(bucket).createMultipartUpload())).toEqual(
        parameterError("createMultipartUpload", { index: 1, type: "string" }),
      );
    });

    it("createMultipartUpload() coerces the key to a string", async () => {
      const upload = (await looseBucket(bucket).createMultipartUpload(56)) as { key: unknown };
      expect(upload.key).toBe("56");
    });

    it("createMultipartUpload() refuses an empty key", async () => {
      expect(await failureOf(() => bucket.createMultipartUpload(""))).toEqual(
        storeError("createMultipartUpload", 10020),
      );
    });

    it("createMultipartUpload() refuses a key of more than 1024 bytes", async () => {
      for (const key of ["k".repeat(1025), "é".repeat(513)]) {
        expect(await failureOf(() => bucket.createMultipartUpload(key))).toEqual(
          storeError("createMultipartUpload", 10020),
        );
      }
    });

    for (const [name, bad, failure] of refused) {
      it(`createMultipartUpload() refuses options: ${name}`, async () => {
        const key = freshKey("create");
        expect(await failureOf(() => looseBucket(bucket).createMultipartUpload(key, bad))).toEqual(
          failure,
        );
      });
    }

    for (const [name, good] of allowed) {
      it(`createMultipartUpload() takes options: ${name}`, async () => {
        const key = freshKey("create");
        const upload = await looseBucket(bucket).createMultipartUpload(key, good);
        expect((upload as { key: unknown }).key).toBe(key);
      });
    }

    const create = (...parameters: unknown[]) =>
      failureOf(() => looseBucket(bucket).createMultipartUpload(...parameters));

    it("createMultipartUpload() refuses symbols", async () => {
      const key = freshKey("create");
      const symbol = Symbol("value");
      const toString = typeError("Cannot convert a Symbol value to a string");
      expect(await create(symbol)).toEqual(toString);
      expect(await create(key, symbol)).toEqual(options);
      expect(await create(key, { customMetadata: { a: symbol } })).toEqual(toString);
    });
  });
}
