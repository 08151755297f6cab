/** Rules for calls of every method, independent of the arguments. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreMultipartUpload } from "../../../../src/types/store.ts";
import { failureOf } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket, looseObject, looseUpload } from "./loose.ts";
import { type Subject, onlyIn } from "./subject.ts";

const methods = ["head", "get", "put", "delete", "list", "createMultipartUpload"] as const;

export function invocationSuite(subject: Subject): void {
  describe("invocation", () => {
    let bucket: StoreBucket;
    let upload: StoreMultipartUpload;
    beforeAll(async () => {
      bucket = await subject.bucket();
      upload = await bucket.createMultipartUpload(freshKey("invocation"));
    });

    for (const method of methods) {
      it(`${method}() returns a promise when its arguments are bad`, async () => {
        // Only `list` may be called without arguments.
        const parameters = method === "list" ? [1] : [];
        const promise = looseBucket(bucket)[method](...parameters);
        expect(promise).toBeInstanceOf(Promise);
        await expect(promise).rejects.toBeInstanceOf(TypeError);
      });
    }

    for (const method of ["uploadPart", "complete"] as const) {
      it(`${method}() returns a promise when its arguments are bad`, async () => {
        const promise = looseUpload(upload)[method]();
        expect(promise).toBeInstanceOf(Promise);
        await expect(promise).rejects.toBeInstanceOf(TypeError);
      });
    }

    it("methods throw synchronously for bad arguments before 2022-10-31", async () => {
      // With an older date, the platform does not turn a thrown error into a rejected promise.
      const old = looseBucket(await subject.variants.oldDate());
      for (const method of methods) {
        const parameters = method === "list" ? [1] : [];
        expect(() => old[method](...parameters)).toThrow(TypeError);
      }
      // Errors of the store are rejections with any date.
      await expect(old.head("")).rejects.toThrow("(10020)");
    });

    it("every method ignores surplus arguments", async () => {
      const key = freshKey("invocation");
      const loose = looseBucket(bucket);
      await loose.put(key, "x", {}, "more");
      expect(await loose.head(key, "more")).not.toBeNull();
      expect(await loose.get(key, {}, "more")).not.toBeNull();
      expect(await loose.list({ prefix: key }, "more")).toHaveProperty("truncated", false);
      expect(await loose.delete(key, "more")).toBeUndefined();
      expect(await bucket.head(key)).toBeNull();
    });

    const illegal = {
      error: "TypeError",
      message: expect.stringMatching(/^Illegal invocation/) as unknown,
    };

    // Miniflare's proxy binds the methods to the bucket, so this runs in workerd only.
    for (const method of methods) {
      onlyIn(subject, "workerd")(`${method}() cannot be called without its bucket`, () => {
        const detached = looseBucket(bucket)[method];
        // The method throws synchronously, as the platform's methods do.
        for (const owner of [undefined, {}]) {
          expect(() => Reflect.apply(detached, owner, ["key", "value"])).toThrow(
            /^Illegal invocation/,
          );
        }
      });
    }

    for (const method of ["uploadPart", "complete", "abort"] as const) {
      it(`${method}() cannot be called without its upload`, async () => {
        const detached = looseUpload(upload)[method];
        expect(await failureOf(() => Reflect.apply(detached, undefined, []))).toEqual(illegal);
      });
    }

    onlyIn(subject, "workerd")("resumeMultipartUpload() throws without its bucket", () => {
      const detached = looseBucket(bucket).resumeMultipartUpload;
      expect(() => Reflect.apply(detached, undefined, ["key", "id"])).toThrow(
        /^Illegal invocation/,
      );
    });

    it("writeHttpMetadata() throws without its object", async () => {
      const object = await bucket.put(freshKey("invocation"), "x");
      const detached = looseObject(object).writeHttpMetadata;
      expect(() => Reflect.apply(detached, undefined, [new Headers()])).toThrow(
        /^Illegal invocation/,
      );
    });
  });
}
