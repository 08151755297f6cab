/** StoreObject: the fields of every result. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { hello } from "./content.ts";
import { freshKey } from "./key.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

const fieldsOfUpload = [
  "checksums",
  "customMetadata",
  "etag",
  "httpEtag",
  "httpMetadata",
  "key",
  "size",
  "storageClass",
  "uploaded",
  "version",
];

export function objectSuite(subject: Subject): void {
  describe("object", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    it("put() returns a version that is unique to the upload", async () => {
      const key = freshKey("object");
      const versions = new Set<string>();
      for (let upload = 0; upload < 5; upload += 1) {
        versions.add((await bucket.put(key, "same")).version);
      }
      expect(versions.size).toBe(5);
      expect((await bucket.put(freshKey("object"), "same")).version).not.toBe("");
    });

    it("put() returns the MD5 of the content as the etag", async () => {
      expect((await bucket.put(freshKey("object"), hello.text)).etag).toBe(hello.md5);
    });

    it("httpEtag is the etag in quotes", async () => {
      expect((await bucket.put(freshKey("object"), hello.text)).httpEtag).toBe(`"${hello.md5}"`);
    });

    it("uploaded is the time of the upload", async () => {
      const before = await subject.clock.now();
      const { uploaded } = await bucket.put(freshKey("object"), "now");
      const after = await subject.clock.now();
      expect(uploaded).toBeInstanceOf(Date);
      expect(uploaded.getTime()).toBeGreaterThanOrEqual(before);
      expect(uploaded.getTime()).toBeLessThanOrEqual(after);
    });

    it("uploaded follows the store's clock", async () => {
      const week = 7 * 24 * 60 * 60 * 1000;
      const key = freshKey("object");
      const first = await bucket.put(key, "now");
      try {
        await subject.clock.advance(week);
        const second = await bucket.put(key, "later");
        const passed = second.uploaded.getTime() - first.uploaded.getTime();
        expect(passed).toBeGreaterThanOrEqual(week);
        expect(passed).toBeLessThan(week + 60_000);
      } finally {
        await subject.clock.reset();
      }
    });

    it("size counts bytes", async () => {
      expect((await bucket.put(freshKey("object"), "é€😀")).size).toBe(2 + 3 + 4);
    });

    it("httpMetadata and customMetadata are empty by default", async () => {
      const key = freshKey("object");
      const stored = await bucket.put(key, "x");
      const read = await present(bucket.head(key));
      expect(stored.httpMetadata).toEqual({});
      expect(stored.customMetadata).toEqual({});
      expect(read.httpMetadata).toEqual({});
      expect(read.customMetadata).toEqual({});
    });

    it("put() resolves with an object that has no range", async () => {
      expect((await bucket.put(freshKey("object"), "x")).range).toBeUndefined();
    });

    it("put() resolves with the same object as head()", async () => {
      const key = freshKey("object");
      const stored = await bucket.put(key, hello.text, {
        httpMetadata: { contentLanguage: "en" },
        customMetadata: { a: "b" },
        sha1: hello.sha1,
        storageClass: "InfrequentAccess",
      });
      const read = await present(bucket.head(key));
      expect(JSON.parse(JSON.stringify(read))).toEqual({
        ...(JSON.parse(JSON.stringify(stored)) as object),
        range: { offset: 0, length: 5 },
      });
    });

    it("fields are own and enumerable, so that JSON shows them", async () => {
      const key = freshKey("object");
      const stored = await bucket.put(key, hello.text, { customMetadata: { a: "b" } });
      const { uploaded, version } = stored;
      const expected = {
        key,
        version,
        size: 5,
        etag: hello.md5,
        httpEtag: `"${hello.md5}"`,
        uploaded: uploaded.toISOString(),
        httpMetadata: {},
        customMetadata: { a: "b" },
        checksums: { md5: hello.md5 },
        storageClass: "Standard",
      };
      const range = { offset: 0, length: 5 };
      expect(JSON.parse(JSON.stringify(stored))).toEqual(expected);
      expect(JSON.parse(JSON.stringify(await bucket.head(key)))).toEqual({ ...expected, range });
      expect(JSON.parse(JSON.stringify(await bucket.get(key)))).toEqual({ ...expected, range });
      const read = await present(bucket.head(key));
      expect(Object.keys(read).toSorted()).toEqual([...fieldsOfUpload, "range"].toSorted());
    });

    it("classes have the names of the specification", async () => {
      const key = freshKey("object");
      const stored = await bucket.put(key, "x");
      const found = await present(bucket.get(key));
      const failed = await present(bucket.get(key, { onlyIf: { etagMatches: "other" } }));
      const upload = await bucket.createMultipartUpload(key);
      const listed = (await bucket.list({ prefix: key })).objects;
      expect(bucket.constructor.name).toBe("StoreBucket");
      expect(stored.constructor.name).toBe("StoreObject");
      expect((await present(bucket.head(key))).constructor.name).toBe("StoreObject");
      expect(failed.constructor.name).toBe("StoreObject");
      expect(found.constructor.name).toBe("StoreObjectBody");
      expect(upload.constructor.name).toBe("StoreMultipartUpload");
      expect(listed.map((object) => object.constructor.name)).toEqual(["StoreObject"]);
      await found.arrayBuffer();
    });
  });
}
