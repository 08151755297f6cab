/**
 * list() with a delimiter.
 *
 * list() groups the keys that contain the delimiter after the prefix into `delimitedPrefixes`. In
 * the specification, these end before the delimiter. The flag `store_list_trailing_delimiter`
 * selects the form of the deployed service, which includes the delimiter.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreListOptions } from "../../../../src/types/store.ts";
import { freshKey } from "./key.ts";
import { everyPage, keysOf, putAll } from "./listing.ts";
import type { Subject } from "./subject.ts";

interface Row {
  name: string;
  keys: string[];
  /** Without the prefix of the test. */
  prefix?: string;
  delimiter: string;
  startAfter?: string;
  objects: string[];
  /** Without the delimiter at the end. */
  prefixes: string[];
}

const rows: Row[] = [
  {
    name: "groups keys up to the first delimiter",
    keys: ["foo/bar/baz"],
    delimiter: "/",
    objects: [],
    prefixes: ["foo"],
  },
  {
    name: "groups keys up to the first delimiter after the prefix",
    keys: ["foo/bar/baz"],
    prefix: "foo/",
    delimiter: "/",
    objects: [],
    prefixes: ["foo/bar"],
  },
  {
    name: "groups keys for a prefix that ends within a segment",
    keys: ["foo/bar/baz", "foo/bat", "foo/cat/x"],
    prefix: "foo/ba",
    delimiter: "/",
    objects: ["foo/bat"],
    prefixes: ["foo/bar"],
  },
  {
    name: "lists keys without the delimiter as objects",
    keys: ["a", "b/1", "b/2", "c", "d/1/2"],
    delimiter: "/",
    objects: ["a", "c"],
    prefixes: ["b", "d"],
  },
  {
    name: "lists a key and a prefix of the same name",
    keys: ["foo", "foo/x"],
    delimiter: "/",
    objects: ["foo"],
    prefixes: ["foo"],
  },
  {
    name: "groups a key that ends with the delimiter",
    keys: ["foo/"],
    delimiter: "/",
    objects: [],
    prefixes: ["foo"],
  },
  {
    name: "lists a key that is the prefix itself",
    keys: ["foo/", "foo/a"],
    prefix: "foo/",
    delimiter: "/",
    objects: ["foo/", "foo/a"],
    prefixes: [],
  },
  {
    name: "groups an empty segment",
    keys: ["foo//a", "foo/b"],
    prefix: "foo/",
    delimiter: "/",
    objects: ["foo/b"],
    prefixes: ["foo/"],
  },
  {
    name: "takes a delimiter of several characters",
    keys: ["a--b--c", "a-b", "d--", "e-"],
    delimiter: "--",
    objects: ["a-b", "e-"],
    prefixes: ["a", "d"],
  },
  {
    name: "takes a delimiter that is not ASCII",
    keys: ["a→1", "a→2", "b", "→"],
    prefix: "a",
    delimiter: "→",
    objects: [],
    prefixes: ["a"],
  },
  {
    name: "takes every character of the delimiter literally",
    keys: ["a%1", "b_1", "c1"],
    delimiter: "%",
    objects: ["b_1", "c1"],
    prefixes: ["a"],
  },
  {
    name: "treats an empty delimiter as no delimiter",
    keys: ["a/1", "b"],
    delimiter: "",
    objects: ["a/1", "b"],
    prefixes: [],
  },
  {
    name: "orders prefixes by UTF-8 bytes",
    keys: ["😀/1", "\uFF5E/1", "z/1", "é/1"],
    delimiter: "/",
    objects: [],
    prefixes: ["z", "é", "\uFF5E", "😀"],
  },
  {
    name: "continues after the largest code point",
    keys: ["a\u{10FFFF}/1", "a\u{10FFFF}/2", "b/1"],
    delimiter: "/",
    objects: [],
    prefixes: ["a\u{10FFFF}", "b"],
  },
  {
    name: "begins after a startAfter within a group",
    keys: ["a/1", "b/1", "b/2", "c"],
    delimiter: "/",
    startAfter: "b/1",
    objects: ["c"],
    prefixes: ["b"],
  },
  {
    name: "omits a group whose keys are all before startAfter",
    keys: ["a/1", "b/1", "b/2", "c"],
    delimiter: "/",
    startAfter: "b/2",
    objects: ["c"],
    prefixes: [],
  },
];

export function listDelimiterSuite(subject: Subject): void {
  describe("list: delimiter", () => {
    let bucket: StoreBucket;
    let trailing: StoreBucket;
    beforeAll(async () => {
      bucket = await subject.bucket();
      trailing = await subject.variants.trailingDelimiter();
    });

    async function stored(keys: string[]): Promise<string> {
      // The base contains no delimiter of any row.
      const base = freshKey("delimiter").replaceAll("-", "");
      await putAll(
        bucket,
        keys.map((key) => base + key),
      );
      return base;
    }

    for (const row of rows) {
      it(`list() ${row.name}`, async () => {
        const base = await stored(row.keys);
        const options: StoreListOptions = {
          prefix: base + (row.prefix ?? ""),
          delimiter: row.delimiter,
          ...(row.startAfter === undefined ? {} : { startAfter: base + row.startAfter }),
        };
        const plain = await bucket.list(options);
        expect(keysOf(plain, base)).toEqual(row.objects);
        expect(plain.delimitedPrefixes).toEqual(row.prefixes.map((prefix) => base + prefix));
        expect(plain.truncated).toBe(false);

        const flagged = await trailing.list(options);
        expect(keysOf(flagged, base)).toEqual(row.objects);
        expect(flagged.delimitedPrefixes).toEqual(
          row.prefixes.map((prefix) => base + prefix + row.delimiter),
        );
        expect(flagged.truncated).toBe(false);
      });
    }

    it("list() groups keys without a prefix", async () => {
      const base = await stored(["/bar/baz"]);
      const pages = await everyPage(bucket, { delimiter: "/" });
      expect(pages.flatMap((page) => page.delimitedPrefixes)).toContain(base);
      const flagged = await everyPage(trailing, { delimiter: "/" });
      expect(flagged.flatMap((page) => page.delimitedPrefixes)).toContain(`${base}/`);
    });

    for (const limit of [1, 2, 3, 4, 5]) {
      it(`list() counts prefixes toward a limit of ${limit}, and returns each once`, async () => {
        const base = await stored(["a/1", "a/2", "a0", "b", "b/1", "b/2", "b/3", "c/1", "d"]);
        const pages = await everyPage(bucket, { prefix: base, delimiter: "/", limit });
        for (const page of pages) {
          expect(page.objects.length + page.delimitedPrefixes.length).toBeLessThanOrEqual(limit);
        }
        expect(pages.flatMap((page) => keysOf(page, base))).toEqual(["a0", "b", "d"]);
        expect(pages.flatMap((page) => page.delimitedPrefixes)).toEqual(
          ["a", "b", "c"].map((prefix) => base + prefix),
        );
        expect(pages).toHaveLength(Math.ceil(6 / limit));
      });
    }

    it("list() returns a prefix once when keys are added to it between pages", async () => {
      const base = await stored(["a/1", "b"]);
      const page = await bucket.list({ prefix: base, delimiter: "/", limit: 1 });
      if (!page.truncated) throw new Error("Expected a truncated page");
      expect(page.delimitedPrefixes).toEqual([`${base}a`]);
      await bucket.put(`${base}a/2`, "x");
      const next = await bucket.list({
        prefix: base,
        delimiter: "/",
        limit: 1,
        cursor: page.cursor,
      });
      expect(next.delimitedPrefixes).toEqual([]);
      expect(keysOf(next, base)).toEqual(["b"]);
    });
  });
}
