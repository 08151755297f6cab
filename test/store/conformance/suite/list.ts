import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreListOptions } from "../../../../src/types/store.ts";
import { hello } from "./content.ts";
import { freshKey } from "./key.ts";
import { everyPage, keysOf, putAll } from "./listing.ts";
import { present } from "./present.ts";
import type { Subject } from "./subject.ts";

export function listSuite(subject: Subject): void {
  describe("list", () => {
    let bucket: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
    });

    /** Stores `names` under a new prefix, and returns the prefix. */
    async function stored(names: string[]): Promise<string> {
      const prefix = `${freshKey("list")}:`;
      await putAll(
        bucket,
        names.map((name) => prefix + name),
      );
      return prefix;
    }

    it("list() without matches is empty and not truncated", async () => {
      const page = await bucket.list({ prefix: freshKey("list") });
      expect(page.objects).toEqual([]);
      expect(page.delimitedPrefixes).toEqual([]);
      expect(page.truncated).toBe(false);
      expect("cursor" in page).toBe(false);
    });

    it("list() without options lists the bucket", async () => {
      const prefix = await stored(["a"]);
      const keys: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await bucket.list(cursor === undefined ? undefined : { cursor });
        keys.push(...keysOf(page));
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor !== undefined);
      expect(keys).toContain(`${prefix}a`);
    });

    it("list() returns the same objects as head()", async () => {
      const key = freshKey("list");
      await bucket.put(key, hello.text, { sha256: hello.sha256, storageClass: "InfrequentAccess" });
      const [listed] = (await bucket.list({ prefix: key })).objects;
      const head = await present(bucket.head(key));
      expect(listed?.key).toBe(key);
      expect(listed?.version).toBe(head.version);
      expect(listed?.size).toBe(5);
      expect(listed?.etag).toBe(hello.md5);
      expect(listed?.httpEtag).toBe(`"${hello.md5}"`);
      expect(listed?.uploaded.getTime()).toBe(head.uploaded.getTime());
      expect(listed?.checksums.toJSON()).toEqual({ md5: hello.md5, sha256: hello.sha256 });
      expect(listed?.storageClass).toBe("InfrequentAccess");
    });

    it("list() orders by key", async () => {
      const prefix = await stored(["b", "a10", "a", "B", "a2", "a/1"]);
      expect(keysOf(await bucket.list({ prefix }), prefix)).toEqual([
        "B",
        "a",
        "a/1",
        "a10",
        "a2",
        "b",
      ]);
    });

    it("list() orders by UTF-8 bytes, not by UTF-16 units", async () => {
      // U+FF5E sorts after the first surrogate of U+1F600, and before U+1F600 itself.
      const prefix = await stored(["😀", "\uFF5E", "z", "é", "\u{10FFFF}"]);
      const order = ["z", "é", "\uFF5E", "😀", "\u{10FFFF}"];
      expect(keysOf(await bucket.list({ prefix }), prefix)).toEqual(order);
      const pages = await everyPage(bucket, { prefix, limit: 1 });
      expect(pages.flatMap((page) => keysOf(page, prefix))).toEqual(order);
    });

    it("list() returns only keys that begin with the prefix", async () => {
      const prefix = await stored(["ab", "abc", "aB", "b", "xab"]);
      expect(keysOf(await bucket.list({ prefix: `${prefix}ab` }), prefix)).toEqual(["ab", "abc"]);
    });

    it("list() takes every character of a prefix literally", async () => {
      const prefix = await stored(["%a", "_a", "*a", "?a", "[ab]a", "'a", "xa", "\\a"]);
      for (const start of ["%", "_", "*", "?", "[ab]", "'", "\\"]) {
        expect(keysOf(await bucket.list({ prefix: prefix + start }), prefix)).toEqual([
          `${start}a`,
        ]);
      }
    });

    it("list() takes a prefix that ends with the largest code point", async () => {
      const prefix = await stored(["\u{10FFFF}", "\u{10FFFF}a", "\u{10FFFE}"]);
      expect(keysOf(await bucket.list({ prefix: `${prefix}\u{10FFFF}` }), prefix)).toEqual([
        "\u{10FFFF}",
        "\u{10FFFF}a",
      ]);
    });

    it("list() with an empty prefix lists everything", async () => {
      const first = await bucket.list({ prefix: "", limit: 1 });
      const same = await bucket.list({ limit: 1 });
      expect(keysOf(first)).toEqual(keysOf(same));
      expect(first.objects).toHaveLength(1);
    });

    for (const limit of [1, 2, 3, 4, 5, 6]) {
      it(`list() returns every key once in pages of ${limit}`, async () => {
        const names = ["a", "b", "c", "d", "e"];
        const prefix = await stored(names);
        const pages = await everyPage(bucket, { prefix, limit });
        expect(pages.flatMap((page) => keysOf(page, prefix))).toEqual(names);
        for (const page of pages) expect(page.objects.length).toBeLessThanOrEqual(limit);
        expect(pages).toHaveLength(Math.ceil(names.length / limit));
      });
    }

    it("list() returns a cursor only when the page is truncated", async () => {
      const prefix = await stored(["a", "b"]);
      const page = await bucket.list({ prefix, limit: 1 });
      if (!page.truncated) throw new Error("Expected a truncated page");
      expect(typeof page.cursor).toBe("string");
      const last = await bucket.list({ prefix, limit: 1, cursor: page.cursor });
      expect(last.truncated).toBe(false);
      expect("cursor" in last).toBe(false);
    });

    it("list() continues after a deleted key, and includes keys added since", async () => {
      const prefix = await stored(["a", "b", "d"]);
      const page = await bucket.list({ prefix, limit: 2 });
      if (!page.truncated) throw new Error("Expected a truncated page");
      await bucket.delete(`${prefix}b`);
      await bucket.put(`${prefix}c`, "x");
      await bucket.put(`${prefix}aa`, "x");
      const next = await bucket.list({ prefix, limit: 2, cursor: page.cursor });
      expect(keysOf(next, prefix)).toEqual(["c", "d"]);
    });

    it("list() takes a cursor on another binding of the bucket", async () => {
      const prefix = await stored(["a", "b"]);
      const page = await bucket.list({ prefix, limit: 1 });
      if (!page.truncated) throw new Error("Expected a truncated page");
      const other = await subject.variants.oldDateWithFlag();
      const next = await other.list({ prefix, limit: 1, cursor: page.cursor });
      expect(keysOf(next, prefix)).toEqual(["b"]);
    });

    const startAfterRows: [startAfter: string, expected: string[]][] = [
      ["", ["a", "b", "b/1", "c"]],
      ["a", ["b", "b/1", "c"]],
      ["aa", ["b", "b/1", "c"]],
      ["b", ["b/1", "c"]],
      ["c", []],
      ["z", []],
    ];
    for (const [startAfter, expected] of startAfterRows) {
      it(`list() begins after startAfter "${startAfter}", which is not listed`, async () => {
        const prefix = await stored(["a", "b", "b/1", "c"]);
        const page = await bucket.list({ prefix, startAfter: prefix + startAfter });
        expect(keysOf(page, prefix)).toEqual(expected);
      });
    }

    it("list() takes a startAfter outside the prefix", async () => {
      const prefix = await stored(["a", "b"]);
      const all = ["a", "b"];
      const before: StoreListOptions = { prefix, startAfter: "!" };
      const behind: StoreListOptions = { prefix, startAfter: "\u{10FFFF}" };
      expect(keysOf(await bucket.list(before), prefix)).toEqual(all);
      expect(keysOf(await bucket.list({ prefix, startAfter: "" }), prefix)).toEqual(all);
      expect(keysOf(await bucket.list(behind), prefix)).toEqual([]);
    });

    it("list() pages after startAfter", async () => {
      const prefix = await stored(["a", "b", "c", "d"]);
      const pages = await everyPage(bucket, { prefix, startAfter: `${prefix}a`, limit: 2 });
      expect(pages.map((page) => keysOf(page, prefix))).toEqual([["b", "c"], ["d"]]);
    });

    it("list() does not show uploads in progress", async () => {
      const key = freshKey("list");
      const upload = await bucket.createMultipartUpload(key);
      const part = await upload.uploadPart(1, "x");
      expect(keysOf(await bucket.list({ prefix: key }))).toEqual([]);
      await upload.complete([part]);
      expect(keysOf(await bucket.list({ prefix: key }))).toEqual([key]);
    });

    describe("1001 keys", () => {
      let prefix: string;
      beforeAll(async () => {
        const names = Array.from({ length: 1001 }, (_, index) => String(index).padStart(4, "0"));
        prefix = await stored(names);
      }, 60_000);

      it("list() returns 1000 objects by default", async () => {
        const page = await bucket.list({ prefix });
        expect(page.objects).toHaveLength(1000);
        expect(page.truncated).toBe(true);
        const next = await bucket.list({ prefix, cursor: page.truncated ? page.cursor : "" });
        expect(keysOf(next, prefix)).toEqual(["1000"]);
        expect(next.truncated).toBe(false);
      });

      it("list() returns at most 1000 objects, also with include", async () => {
        const include: StoreListOptions["include"] = ["httpMetadata", "customMetadata"];
        const page = await bucket.list({ prefix, limit: 1000, include });
        expect(page.objects).toHaveLength(1000);
        expect(page.truncated).toBe(true);
      });

      it("list() groups all of them into one prefix", async () => {
        const page = await bucket.list({ prefix: prefix.slice(0, -1), delimiter: ":" });
        expect(page.objects).toEqual([]);
        expect(page.delimitedPrefixes).toEqual([prefix.slice(0, -1)]);
        expect(page.truncated).toBe(false);
      });
    });
  });
}
