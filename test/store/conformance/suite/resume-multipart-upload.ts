/** resumeMultipartUpload() is synchronous, and checks only the number of arguments. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { failureOf, parameterError, storeError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import { etags, parts } from "./parts.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

export function resumeMultipartUploadSuite(subject: Subject): void {
  describe("resumeMultipartUpload", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    it("resumeMultipartUpload() returns an upload and not a promise", () => {
      const upload = bucket.resumeMultipartUpload("key", "id");
      expect(upload).not.toBeInstanceOf(Promise);
      expect(upload.key).toBe("key");
      expect(upload.uploadId).toBe("id");
      expect(JSON.parse(JSON.stringify(upload))).toEqual({ key: "key", uploadId: "id" });
    });

    it("resumeMultipartUpload() continues an upload", async () => {
      const key = freshKey("resume");
      const created = await bucket.createMultipartUpload(key);
      const part = await bucket
        .resumeMultipartUpload(key, created.uploadId)
        .uploadPart(1, parts.abc.content);
      const object = await bucket.resumeMultipartUpload(key, created.uploadId).complete([part]);
      expect(object.etag).toBe(etags.abc);
      expect(await (await present(bucket.get(key))).text()).toBe("abc");
    });

    it("resumeMultipartUpload() continues an upload through another binding", async () => {
      const key = freshKey("resume");
      const other = await subject.variants.trailingDelimiter();
      const { uploadId } = await bucket.createMultipartUpload(key);
      const part = await other.resumeMultipartUpload(key, uploadId).uploadPart(1, "abc");
      await bucket.resumeMultipartUpload(key, uploadId).complete([part]);
      expect(await (await present(other.get(key))).text()).toBe("abc");
    });

    const unknown: [name: string, key: string, uploadId: string, code: 10020 | 10024][] = [
      ["an unknown uploadId", "key", "unknown", 10024],
      ["an empty uploadId", "key", "", 10024],
      ["an uploadId of 10000 characters", "key", "u".repeat(10_000), 10024],
      ["an empty key", "", "unknown", 10020],
      ["a key of more than 1024 bytes", "k".repeat(1025), "unknown", 10020],
    ];
    for (const [name, key, uploadId, code] of unknown) {
      it(`resumeMultipartUpload() takes ${name}, and methods of the upload fail`, async () => {
        const upload = bucket.resumeMultipartUpload(key, uploadId);
        expect(upload.key).toBe(key);
        expect(upload.uploadId).toBe(uploadId);
        const part = { partNumber: 1, etag: parts.abc.md5 };
        expect(await failureOf(() => upload.uploadPart(1, "abc"))).toEqual(
          storeError("uploadPart", code),
        );
        expect(await failureOf(() => upload.complete([part]))).toEqual(
          storeError("completeMultipartUpload", code),
        );
        expect(await failureOf(() => upload.abort())).toEqual(
          storeError("abortMultipartUpload", code),
        );
      });
    }

    it("resumeMultipartUpload() with another key does not find the upload", async () => {
      const key = freshKey("resume");
      const other = freshKey("resume");
      const created = await bucket.createMultipartUpload(key);
      const part = await created.uploadPart(1, "abc");
      const upload = bucket.resumeMultipartUpload(other, created.uploadId);
      expect(await failureOf(() => upload.uploadPart(1, "abc"))).toEqual(
        storeError("uploadPart", 10024),
      );
      expect(await failureOf(() => upload.complete([part]))).toEqual(
        storeError("completeMultipartUpload", 10024),
      );
      expect(await failureOf(() => upload.abort())).toEqual(
        storeError("abortMultipartUpload", 10024),
      );
      expect(await bucket.head(other)).toBeNull();
      await created.complete([part]);
      expect(await (await present(bucket.get(key))).text()).toBe("abc");
    });

    it("resumeMultipartUpload() coerces its arguments to strings", () => {
      const upload = looseBucket(bucket).resumeMultipartUpload(1, null);
      expect(upload.key).toBe("1");
      expect(upload.uploadId).toBe("null");
    });

    const resume = (...parameters: unknown[]) =>
      looseBucket(bucket).resumeMultipartUpload(...parameters);

    it("resumeMultipartUpload() throws synchronously when an argument is missing", () => {
      for (const [index, parameters] of [
        [1, []],
        [2, ["key"]],
      ] as const) {
        const { message } = parameterError("resumeMultipartUpload", { index, type: "string" });
        expect(() => resume(...parameters)).toThrow(TypeError);
        expect(() => resume(...parameters)).toThrow(message);
      }
    });

    it("resumeMultipartUpload() refuses symbols", async () => {
      const symbol = Symbol("value");
      const toString = typeError("Cannot convert a Symbol value to a string");
      expect(await failureOf(() => resume(symbol, "id"))).toEqual(toString);
      expect(await failureOf(() => resume("key", symbol))).toEqual(toString);
    });
  });
}
