/** Writes and deletes are strongly consistent: every read after the promise sees the change. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket } from "../../../../src/types/store.ts";
import { bytesOf, firstDifference, inlineBytesMax } from "./content.ts";
import { freshKey } from "./key.ts";
import { keysOf } from "./listing.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

export function consistencySuite(subject: Subject): void {
  describe("consistency", () => {
    let bucket: StoreBucket;
    let other: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
      other = await subject.variants.trailingDelimiter();
    });

    for (const size of [100, inlineBytesMax * 2]) {
      it(`another binding sees every write of ${size} bytes at once`, async () => {
        const key = freshKey("consistency");
        for (let round = 1; round <= 5; round += 1) {
          const { version } = await bucket.put(key, bytesOf(size, round));
          const object = await present(other.get(key));
          expect(object.version).toBe(version);
          expect(firstDifference(await object.arrayBuffer(), bytesOf(size, round))).toBe(-1);
          expect((await present(other.head(key))).version).toBe(version);
          expect(keysOf(await other.list({ prefix: key }))).toEqual([key]);
          await other.delete(key);
          expect(await bucket.head(key)).toBeNull();
          expect(await bucket.get(key)).toBeNull();
          expect(keysOf(await bucket.list({ prefix: key }))).toEqual([]);
        }
      });

      it(`a body of ${size} bytes stays the same when a put replaces the object`, async () => {
        const key = freshKey("consistency");
        await bucket.put(key, bytesOf(size, 1));
        const object = await present(bucket.get(key));
        await bucket.put(key, bytesOf(size, 2));
        expect(firstDifference(await object.arrayBuffer(), bytesOf(size, 1))).toBe(-1);
      });

      it(`a body of ${size} bytes stays readable after a delete`, async () => {
        const key = freshKey("consistency");
        await bucket.put(key, bytesOf(size, 1));
        const object = await present(bucket.get(key));
        await bucket.delete(key);
        expect(firstDifference(await object.arrayBuffer(), bytesOf(size, 1))).toBe(-1);
      });

      it(`reads of ${size} bytes during writes return one whole object`, async () => {
        const key = freshKey("consistency");
        const seeds = [1, 2, 3, 4, 5, 6];
        const contents = new Map<string, Uint8Array>();
        for (const seed of seeds) {
          const { etag } = await bucket.put(key, bytesOf(size, seed));
          contents.set(etag, bytesOf(size, seed));
        }
        const writes = seeds.map((seed) => bucket.put(key, bytesOf(size, seed)));
        const reads = Array.from({ length: 12 }, async () => {
          const object = await present(bucket.get(key));
          const expected = contents.get(object.etag) ?? new Uint8Array(0);
          return firstDifference(await object.arrayBuffer(), expected);
        });
        expect(await Promise.all(reads)).toEqual(reads.map(() => -1));
        await Promise.all(writes);
      });
    }

    it("many concurrent writes are all stored", async () => {
      const prefix = `${freshKey("consistency")}:`;
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
      const key = freshKey("consistency");
      const results = await Promise.allSettled([
        bucket.put(`${key}a`, "a"),
        bucket.put(`${key}b`, "b", { md5: "0".repeat(32) }),
        bucket.head(""),
        bucket.put(`${key}c`, "c"),
        bucket.get(`${key}absent`),
      ]);
      expect(results.map((result) => result.status)).toEqual([
        "fulfilled",
        "rejected",
        "rejected",
        "fulfilled",
        "fulfilled",
      ]);
      expect(keysOf(await bucket.list({ prefix: key }), key)).toEqual(["a", "c"]);
    });

    it("buckets do not see each other's objects", async () => {
      const key = freshKey("consistency");
      const separate = await subject.variants.infrequentByDefault();
      await bucket.put(key, "x");
      expect(await separate.head(key)).toBeNull();
      await separate.put(key, "y");
      await bucket.delete(key);
      expect(await (await present(separate.get(key))).text()).toBe("y");
    });
  });
}
