import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StoreBucket, StoreMultipartUpload } from "../../../../src/types/store.ts";
import { bytesOf, inlineBytesMax } from "./content.ts";
import { failureOf, storeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { parts } from "./parts.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

export function abortSuite(subject: Subject): void {
  describe("abort", () => {
    let bucket: StoreBucket;
    let upload: StoreMultipartUpload;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });
    beforeEach(async () => {
      upload = await bucket.createMultipartUpload(freshKey("abort"));
    });

    it("abort() ends the upload and resolves with undefined", async () => {
      const part = await upload.uploadPart(1, parts.abc.content);
      await upload.uploadPart(2, bytesOf(inlineBytesMax + 1));
      expect(await upload.abort()).toBeUndefined();
      expect(await failureOf(() => upload.uploadPart(1, "late"))).toEqual(
        storeError("uploadPart", 10024),
      );
      expect(await failureOf(() => upload.complete([part]))).toEqual(
        storeError("completeMultipartUpload", 10024),
      );
      expect(await bucket.head(upload.key)).toBeNull();
    });

    it("abort() does not change the object under the key", async () => {
      const { version } = await bucket.put(upload.key, "old");
      await upload.uploadPart(1, "new");
      await upload.abort();
      expect((await present(bucket.head(upload.key))).version).toBe(version);
    });

    it("abort() does not change other uploads of the key", async () => {
      const other = await bucket.createMultipartUpload(upload.key);
      const part = await other.uploadPart(1, parts.abc.content);
      await upload.abort();
      expect((await other.complete([part])).size).toBe(3);
    });

    it("abort() twice resolves", async () => {
      await upload.abort();
      expect(await upload.abort()).toBeUndefined();
      const resumed = bucket.resumeMultipartUpload(upload.key, upload.uploadId);
      expect(await resumed.abort()).toBeUndefined();
    });

    it("abort() after complete() resolves, and the object stays", async () => {
      const { version } = await upload.complete([await upload.uploadPart(1, "x")]);
      expect(await upload.abort()).toBeUndefined();
      const object = await present(bucket.get(upload.key));
      expect(object.version).toBe(version);
      expect(await object.text()).toBe("x");
    });

    it("abort() of an unknown upload fails", async () => {
      const unknown = bucket.resumeMultipartUpload(upload.key, "unknown");
      expect(await failureOf(() => unknown.abort())).toEqual(
        storeError("abortMultipartUpload", 10024),
      );
    });
  });
}
