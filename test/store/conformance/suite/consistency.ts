/** delete(), and strong consistency: every read after the promise of a write sees the change. */
import { describe, expect, it } from "vitest";
import { bytesOf, sameBytes } from "../../../support/bytes.ts";
import { notAString, storeError } from "./failures.ts";
import { keysOf } from "./lists.ts";
import { bucket, env, freshKey, loose, present, textOf } from "./subject.ts";
import { hello, inlineBytesMax } from "./values.ts";

async function stored(count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, () => freshKey());
  await Promise.all(keys.map((key) => bucket.put(key, hello.text)));
  return keys;
}

async function remaining(keys: string[]): Promise<string[]> {
  const objects = await Promise.all(keys.map((key) => bucket.head(key)));
  return keys.filter((_, index) => objects[index] !== null);
}

export function deleteSuite(): void {
  describe("delete", () => {
    it.each([5, inlineBytesMax + 1])("delete() removes an object of %i bytes", async (size) => {
      const key = freshKey();
      await bucket.put(key, bytesOf(size));
      expect(await bucket.delete(key)).toBeUndefined();
      expect(await bucket.head(key)).toBeNull();
      expect(await bucket.get(key)).toBeNull();
      expect((await bucket.list({ prefix: key })).objects).toEqual([]);
      await bucket.put(key, "new");
      expect(await textOf(key)).toBe("new");
    });

    it("delete() removes several objects, each once, and ignores keys without an object", async () => {
      const keys = await stored(3);
      const [kept = ""] = await stored(1);
      expect(await bucket.delete([...keys, freshKey(), keys[0]!])).toBeUndefined();
      expect(await remaining([...keys, kept])).toEqual([kept]);
      expect(await bucket.delete(freshKey())).toBeUndefined();
    });

    it("delete() keeps longer keys that begin with the key", async () => {
      const [base = ""] = await stored(1);
      await bucket.put(`${base}/below`, "x");
      await bucket.delete(base);
      expect(await remaining([base, `${base}/below`])).toEqual([`${base}/below`]);
    });

    it("delete() takes 1000 keys, and deletes none of 1001", async () => {
      const [first = "", last = ""] = await stored(2);
      const keys = [first, ...Array.from({ length: 998 }, (_, index) => `absent${index}`), last];
      const failure = storeError("delete", 10027);
      await expect(() => bucket.delete([...keys, "one more"])).toFailWith(failure);
      await expect(() => bucket.delete([])).toFailWith(failure);
      expect(await remaining([first, last])).toEqual([first, last]);
      expect(await bucket.delete(keys)).toBeUndefined();
      expect(await remaining([first, last])).toEqual([]);
    });

    it("delete() deletes nothing when one key is invalid", async () => {
      const keys = await stored(1);
      const invalid = storeError("delete", 10020);
      for (const bad of ["", "k".repeat(1025)]) {
        await expect(() => bucket.delete([...keys, bad])).toFailWith(invalid);
      }
      await expect(() => loose.delete([...keys, Symbol("key")])).toFailWith(notAString);
      expect(await remaining(keys)).toEqual(keys);
    });
  });
}

export function consistencySuite(): void {
  describe("consistency", () => {
    describe.each([100, inlineBytesMax * 2])("%i bytes", (size) => {
      it("another binding sees every write at once", async () => {
        const key = freshKey();
        const other = env.TRAILING;
        for (let round = 1; round <= 5; round += 1) {
          const { version } = await bucket.put(key, bytesOf(size, round));
          const object = await present(other.get(key));
          expect(object.version).toBe(version);
          expect(sameBytes(await object.bytes(), bytesOf(size, round))).toBe(true);
          expect((await present(other.head(key))).version).toBe(version);
          expect(keysOf(await other.list({ prefix: key }))).toEqual([key]);
          await other.delete(key);
          expect(await bucket.head(key)).toBeNull();
          expect(await bucket.get(key)).toBeNull();
          expect(keysOf(await bucket.list({ prefix: key }))).toEqual([]);
        }
      });

      it("a body stays the same when the object is replaced or deleted", async () => {
        const key = freshKey();
        for (const change of [() => bucket.put(key, bytesOf(size, 2)), () => bucket.delete(key)]) {
          await bucket.put(key, bytesOf(size, 1));
          const object = await present(bucket.get(key));
          await change();
          expect(sameBytes(await object.bytes(), bytesOf(size, 1))).toBe(true);
        }
      });

      it("reads during writes return one whole object", async () => {
        const key = freshKey();
        const seeds = [1, 2, 3, 4, 5, 6];
        const contents = new Map<string, Uint8Array>();
        for (const seed of seeds) {
          const { etag } = await bucket.put(key, bytesOf(size, seed));
          contents.set(etag, bytesOf(size, seed));
        }
        const writes = seeds.map((seed) => bucket.put(key, bytesOf(size, seed)));
        const reads = Array.from({ length: 12 }, async () => {
          const object = await present(bucket.get(key));
          return sameBytes(await object.bytes(), contents.get(object.etag) ?? new Uint8Array(0));
        });
        expect(await Promise.all(reads)).toEqual(reads.map(() => true));
        await Promise.all(writes);
      });
    });

    it("many concurrent writes are all stored", async () => {
      const prefix = freshKey();
      const names = Array.from({ length: 60 }, (_, index) => String(index).padStart(2, "0"));
      await Promise.all(
        names.map((name, index) =>
          bucket.put(prefix + name, index % 10 === 0 ? bytesOf(inlineBytesMax + index) : name),
        ),
      );
      const page = await bucket.list({ prefix });
      expect(keysOf(page, prefix)).toEqual(names);
      expect(page.objects[10]?.size).toBe(inlineBytesMax + 10);
    });

    it("a failed call does not affect other calls of the same turn", async () => {
      const key = freshKey();
      const results = await Promise.allSettled([
        bucket.put(`${key}a`, "a"),
        bucket.put(`${key}b`, "b", { md5: "0".repeat(32) }),
        bucket.head(""),
        bucket.put(`${key}c`, "c"),
        bucket.get(`${key}absent`),
      ]);
      const failed = results.map(({ status }) => status === "rejected");
      expect(failed).toEqual([false, true, true, false, false]);
      expect(keysOf(await bucket.list({ prefix: key }), key)).toEqual(["a", "c"]);
    });

    it("buckets do not see each other's objects", async () => {
      const key = freshKey();
      await bucket.put(key, "x");
      expect(await env.INFREQUENT.head(key)).toBeNull();
      await env.INFREQUENT.put(key, "y");
      await bucket.delete(key);
      expect(await (await present(env.INFREQUENT.get(key))).text()).toBe("y");
    });
  });
}
