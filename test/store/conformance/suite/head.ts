import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { hello } from "./content.ts";
import { failureOf, parameterError, storeError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

export function headSuite(subject: Subject): void {
  describe("head", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    it("head() resolves with null when there is no object", async () => {
      expect(await bucket.head(freshKey("head"))).toBeNull();
    });

    it("head() resolves with the metadata of the object", async () => {
      const key = freshKey("head");
      const stored = await bucket.put(key, hello.text, {
        httpMetadata: { contentType: "text/plain" },
        customMetadata: { colour: "red" },
      });
      const object = await present(bucket.head(key));
      expect(object.key).toBe(key);
      expect(object.version).toBe(stored.version);
      expect(object.size).toBe(5);
      expect(object.etag).toBe(hello.md5);
      expect(object.uploaded.getTime()).toBe(stored.uploaded.getTime());
      expect(object.httpMetadata).toEqual({ contentType: "text/plain" });
      expect(object.customMetadata).toEqual({ colour: "red" });
      expect(object.storageClass).toBe("Standard");
    });

    it("head() resolves with no body and no readers", async () => {
      const key = freshKey("head");
      await bucket.put(key, hello.text);
      const object = await present(bucket.head(key));
      const members = ["body", "bodyUsed", "arrayBuffer", "bytes", "text", "json", "blob"];
      expect(members.filter((member) => member in object)).toEqual([]);
    });

    it("head() returns the whole object as the range", async () => {
      const key = freshKey("head");
      await bucket.put(key, hello.text);
      expect((await present(bucket.head(key))).range).toEqual({ offset: 0, length: 5 });
    });

    it("head() returns an empty range for an empty object", async () => {
      const key = freshKey("head");
      await bucket.put(key, null);
      expect((await present(bucket.head(key))).range).toEqual({ offset: 0, length: 0 });
    });

    it("head() refuses a missing key", async () => {
      expect(await failureOf(() => looseBucket(bucket).head())).toEqual(
        parameterError("head", { index: 1, type: "string" }),
      );
    });

    for (const [given, key] of [
      [undefined, "undefined"],
      [null, "null"],
      [true, "true"],
      [7, "7"],
      [{}, "[object Object]"],
      [["a", "b"], "a,b"],
    ] as const) {
      it(`head() coerces the key to the string ${key}`, async () => {
        await bucket.put(key, "coerced");
        const object = (await looseBucket(bucket).head(given)) as { key: string } | null;
        expect(object?.key).toBe(key);
        await bucket.delete(key);
      });
    }

    it("head() refuses an empty key", async () => {
      expect(await failureOf(() => bucket.head(""))).toEqual(storeError("head", 10020));
    });

    it("head() refuses a key of more than 1024 bytes", async () => {
      expect(await failureOf(() => bucket.head("k".repeat(1025)))).toEqual(
        storeError("head", 10020),
      );
      expect(await bucket.head("k".repeat(1024))).toBeNull();
    });

    it("head() refuses a symbol", async () => {
      expect(await failureOf(() => looseBucket(bucket).head(Symbol("key")))).toEqual(
        typeError("Cannot convert a Symbol value to a string"),
      );
    });
  });
}
