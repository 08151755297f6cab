import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { bytesOf, hello, inlineBytesMax } from "./content.ts";
import { failureOf, parameterError, storeError, typeError } from "./failure.ts";
import { freshKey } from "./key.ts";
import { looseBucket } from "./loose.ts";
import type { Subject } from "./subject.ts";

export function deleteSuite(subject: Subject): void {
  describe("delete", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    async function stored(count: number): Promise<string[]> {
      const keys = Array.from({ length: count }, () => freshKey("delete"));
      await Promise.all(keys.map((key) => bucket.put(key, hello.text)));
      return keys;
    }

    async function remaining(keys: string[]): Promise<string[]> {
      const objects = await Promise.all(keys.map((key) => bucket.head(key)));
      return keys.filter((_, index) => objects[index] !== null);
    }

    it("delete() removes the object and resolves with undefined", async () => {
      const [key = ""] = await stored(1);
      expect(await bucket.delete(key)).toBeUndefined();
      expect(await bucket.head(key)).toBeNull();
      expect(await bucket.get(key)).toBeNull();
      expect((await bucket.list({ prefix: key })).objects).toEqual([]);
    });

    it("delete() removes a value in a file", async () => {
      const key = freshKey("delete");
      await bucket.put(key, bytesOf(inlineBytesMax + 1));
      await bucket.delete(key);
      expect(await bucket.get(key)).toBeNull();
    });

    it("delete() removes several objects", async () => {
      const keys = await stored(3);
      const [kept = ""] = await stored(1);
      expect(await bucket.delete(keys)).toBeUndefined();
      expect(await remaining([...keys, kept])).toEqual([kept]);
    });

    it("delete() ignores a key without an object", async () => {
      expect(await bucket.delete(freshKey("delete"))).toBeUndefined();
      const [key = ""] = await stored(1);
      expect(await bucket.delete([freshKey("delete"), key])).toBeUndefined();
      expect(await bucket.head(key)).toBeNull();
    });

    it("delete() takes the same key twice", async () => {
      const [key = ""] = await stored(1);
      expect(await bucket.delete([key, key])).toBeUndefined();
      expect(await bucket.head(key)).toBeNull();
    });

    it("delete() keeps longer keys that begin with the key", async () => {
      const base = freshKey("delete");
      await bucket.put(base, "x");
      await bucket.put(`${base}/below`, "x");
      await bucket.delete(base);
      expect(await remaining([base, `${base}/below`])).toEqual([`${base}/below`]);
    });

    it("delete() frees the key for another object", async () => {
      const [key = ""] = await stored(1);
      await bucket.delete(key);
      await bucket.put(key, "new");
      expect(await (await bucket.get(key))?.text()).toBe("new");
    });

    it("delete() takes 1000 keys, and deletes none of 1001", async () => {
      const [first = "", last = ""] = await stored(2);
      const absent = Array.from({ length: 998 }, (_, index) => `delete-absent-${index}`);
      expect(await failureOf(() => bucket.delete([first, ...absent, last, "one more"]))).toEqual(
        storeError("delete", 10027),
      );
      expect(await remaining([first, last])).toEqual([first, last]);
      expect(await bucket.delete([first, ...absent, last])).toBeUndefined();
      expect(await remaining([first, last])).toEqual([]);
    });

    it("delete() refuses an empty array", async () => {
      expect(await failureOf(() => bucket.delete([]))).toEqual(storeError("delete", 10027));
    });

    it("delete() refuses a missing argument", async () => {
      expect(await failureOf(() => looseBucket(bucket).delete())).toEqual(
        parameterError("delete", { index: 1, type: "string or Array" }),
      );
    });

    it("delete() refuses an empty key", async () => {
      expect(await failureOf(() => bucket.delete(""))).toEqual(storeError("delete", 10020));
    });

    it("delete() refuses a key of more than 1024 bytes", async () => {
      for (const key of ["k".repeat(1025), "é".repeat(513)]) {
        expect(await failureOf(() => bucket.delete(key))).toEqual(storeError("delete", 10020));
      }
    });

    it("delete() deletes nothing when one key is invalid", async () => {
      const [key = ""] = await stored(1);
      for (const bad of ["", "k".repeat(1025)]) {
        expect(await failureOf(() => bucket.delete([key, bad]))).toEqual(
          storeError("delete", 10020),
        );
      }
      expect(await remaining([key])).toEqual([key]);
    });

    for (const [given, key] of [
      [undefined, "undefined"],
      [null, "null"],
      [true, "true"],
      [1, "1"],
      [{}, "[object Object]"],
    ] as const) {
      it(`delete() coerces the key to the string ${key}`, async () => {
        await bucket.put(key, "x");
        await looseBucket(bucket).delete(given);
        expect(await bucket.head(key)).toBeNull();
        await bucket.put(key, "x");
        await looseBucket(bucket).delete([given]);
        expect(await bucket.head(key)).toBeNull();
      });
    }

    it("delete() coerces a Set to one key", async () => {
      const [key = ""] = await stored(1);
      await bucket.put("[object Set]", "x");
      await looseBucket(bucket).delete(new Set([key]));
      expect(await remaining([key, "[object Set]"])).toEqual([key]);
    });

    it("delete() refuses symbols", async () => {
      const [key = ""] = await stored(1);
      const failure = typeError("Cannot convert a Symbol value to a string");
      const symbol = Symbol("key");
      expect(await failureOf(() => looseBucket(bucket).delete(symbol))).toEqual(failure);
      expect(await failureOf(() => looseBucket(bucket).delete([key, symbol]))).toEqual(failure);
      expect(await remaining([key])).toEqual([key]);
    });
  });
}
