import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { freshKey } from "./key.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

export function storageClassSuite(subject: Subject): void {
  describe("storage class", () => {
    let bucket: StoreBucket;
    let infrequent: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
      infrequent = await subject.variants.infrequentByDefault();
    });

    for (const storageClass of ["Standard", "InfrequentAccess"] as const) {
      it(`put() keeps the storage class ${storageClass}`, async () => {
        for (const target of [bucket, infrequent]) {
          const key = freshKey("storage-class");
          expect((await target.put(key, "x", { storageClass })).storageClass).toBe(storageClass);
          expect((await present(target.head(key))).storageClass).toBe(storageClass);
          expect((await present(target.get(key))).storageClass).toBe(storageClass);
          const { objects } = await target.list({ prefix: key });
          expect(objects.map((object) => object.storageClass)).toEqual([storageClass]);
        }
      });

      it(`createMultipartUpload() keeps the storage class ${storageClass}`, async () => {
        for (const target of [bucket, infrequent]) {
          const key = freshKey("storage-class");
          const upload = await target.createMultipartUpload(key, { storageClass });
          const object = await upload.complete([await upload.uploadPart(1, "x")]);
          expect(object.storageClass).toBe(storageClass);
          expect((await present(target.head(key))).storageClass).toBe(storageClass);
        }
      });
    }

    it("put() uses the bucket's default", async () => {
      const key = freshKey("storage-class");
      expect((await bucket.put(key, "x")).storageClass).toBe("Standard");
      expect((await infrequent.put(key, "x")).storageClass).toBe("InfrequentAccess");
      expect((await present(infrequent.head(key))).storageClass).toBe("InfrequentAccess");
    });

    it("createMultipartUpload() uses the bucket's default", async () => {
      for (const [target, expected] of [
        [bucket, "Standard"],
        [infrequent, "InfrequentAccess"],
      ] as const) {
        const key = freshKey("storage-class");
        const upload = await target.createMultipartUpload(key);
        const object = await upload.complete([await upload.uploadPart(1, "x")]);
        expect(object.storageClass).toBe(expected);
      }
    });
  });
}
