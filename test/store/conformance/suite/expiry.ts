/** The store aborts an upload that is not completed within 7 days. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { bytesOf, inlineBytesMax } from "./content.ts";
import { failureOf, storeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

const second = 1000;
const day = 24 * 60 * 60 * second;

export function expirySuite(subject: Subject): void {
  describe("expiry", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });
    afterEach(async () => {
      await subject.clock.reset();
    });

    it("uploadPart() and complete() fail after 7 days and a second", async () => {
      const upload = await bucket.createMultipartUpload(freshKey("expiry"));
      const small = await upload.uploadPart(1, "x");
      await upload.uploadPart(2, bytesOf(inlineBytesMax + 1));
      await subject.clock.advance(7 * day + second);
      expect(await failureOf(() => upload.uploadPart(1, "late"))).toEqual(
        storeError("uploadPart", 10024),
      );
      expect(await failureOf(() => upload.complete([small]))).toEqual(
        storeError("completeMultipartUpload", 10024),
      );
      expect(await bucket.head(upload.key)).toBeNull();
    });

    it("complete() succeeds after 7 days less a minute", async () => {
      const upload = await bucket.createMultipartUpload(freshKey("expiry"));
      const part = await upload.uploadPart(1, "x");
      // A minute instead of a second, because the test itself takes time.
      await subject.clock.advance(7 * day - 60 * second);
      await upload.uploadPart(2, "in time");
      expect((await upload.complete([part])).size).toBe(1);
    });

    it("uploadPart() does not prolong an upload", async () => {
      const upload = await bucket.createMultipartUpload(freshKey("expiry"));
      await subject.clock.advance(4 * day);
      const part = await upload.uploadPart(1, "x");
      await subject.clock.advance(4 * day);
      expect(await failureOf(() => upload.complete([part]))).toEqual(
        storeError("completeMultipartUpload", 10024),
      );
    });

    it("an expired upload stays expired when the clock is reset", async () => {
      const upload = await bucket.createMultipartUpload(freshKey("expiry"));
      await subject.clock.advance(8 * day);
      expect(await failureOf(() => upload.uploadPart(1, "late"))).toEqual(
        storeError("uploadPart", 10024),
      );
      await subject.clock.reset();
      expect(await failureOf(() => upload.uploadPart(1, "late"))).toEqual(
        storeError("uploadPart", 10024),
      );
    });

    it("objects do not expire, and completed uploads do not either", async () => {
      const key = freshKey("expiry");
      await bucket.put(key, "put");
      const upload = await bucket.createMultipartUpload(freshKey("expiry"));
      await upload.complete([await upload.uploadPart(1, bytesOf(inlineBytesMax + 1))]);
      await subject.clock.advance(30 * day);
      expect(await (await present(bucket.get(key))).text()).toBe("put");
      const object = await present(bucket.get(upload.key));
      expect((await object.arrayBuffer()).byteLength).toBe(inlineBytesMax + 1);
    });

    it("a new upload lives on after older uploads have expired", async () => {
      await bucket.createMultipartUpload(freshKey("expiry"));
      await subject.clock.advance(8 * day);
      const upload = await bucket.createMultipartUpload(freshKey("expiry"));
      expect((await upload.complete([await upload.uploadPart(1, "x")])).size).toBe(1);
    });
  });
}
