/** list(): order, prefixes, pages, delimiters, and `include`. */
import { beforeAll, describe, expect, it } from "vitest";
import type { StoreBucket, StoreListOptions, StoreObjects } from "../../../../src/types/store.ts";
import { typeError } from "./failures.ts";
import { bucket, env, freshKey } from "./subject.ts";

/** The listed keys, without the prefix of the test. */
export function keysOf(page: StoreObjects, prefix = ""): string[] {
  return page.objects.map((object) => object.key.slice(prefix.length));
}

/** All pages of a listing. */
async function everyPage(on: StoreBucket, options: StoreListOptions): Promise<StoreObjects[]> {
  const pages = [await on.list(options)];
  for (let last = pages[0]; last?.truncated === true; last = pages.at(-1)) {
    if (pages.length > 1000) throw new Error("Cannot list: the cursor does not advance");
    pages.push(await on.list({ ...options, cursor: last.cursor }));
  }
  return pages;
}

/** Stores small objects under a new prefix, 100 at a time, and returns the prefix. */
export async function stored(names: readonly string[]): Promise<string> {
  const prefix = freshKey();
  const atOnce = 100;
  for (let start = 0; start < names.length; start += atOnce) {
    const some = names.slice(start, start + atOnce);
    await Promise.all(some.map((name) => bucket.put(prefix + name, "x")));
  }
  return prefix;
}

/** The cursor of a page that must be truncated. */
export function cursorOf(page: StoreObjects): string {
  if (!page.truncated) throw new Error("Expected a truncated page");
  return page.cursor;
}

/** Keys, a prefix that is added to that of the test, and the keys that are listed. */
const prefixRows: [name: string, keys: string[], prefix: string, listed: string[]][] = [
  ["orders by key", ["b", "a10", "a", "B", "a2", "a/1"], "", ["B", "a", "a/1", "a10", "a2", "b"]],
  [
    // U+FF5E sorts after the first surrogate of U+1F600, and before U+1F600 itself.
    "orders by UTF-8 bytes, not by UTF-16 units",
    ["😀", "\uFF5E", "z", "é", "\u{10FFFF}"],
    "",
    ["z", "é", "\uFF5E", "😀", "\u{10FFFF}"],
  ],
  ["lists keys that begin with the prefix", ["ab", "abc", "aB", "b", "xab"], "ab", ["ab", "abc"]],
  [
    "takes a prefix that ends with the largest code point",
    ["\u{10FFFF}", "\u{10FFFF}a", "\u{10FFFE}"],
    "\u{10FFFF}",
    ["\u{10FFFF}", "\u{10FFFF}a"],
  ],
  ...["%", "_", "*", "?", "[ab]", "'", "\\"].map((start): (typeof prefixRows)[number] => [
    `takes ${start} of a prefix literally`,
    ["%a", "_a", "*a", "?a", "[ab]a", "'a", "xa", "\\a"],
    start,
    [`${start}a`],
  ]),
];

export function listSuite(): void {
  describe("list", () => {
    it("list() without matches is empty and not truncated", async () => {
      const page = await bucket.list({ prefix: freshKey() });
      expect(page.objects).toEqual([]);
      expect(page.delimitedPrefixes).toEqual([]);
      expect(page.truncated).toBe(false);
      expect("cursor" in page).toBe(false);
    });

    it("list() without options, and with an empty prefix, lists the bucket", async () => {
      const key = await stored([""]);
      const pages = await everyPage(bucket, {});
      expect(pages.flatMap((page) => keysOf(page))).toContain(key);
      const [first] = keysOf(await bucket.list());
      expect(keysOf(await bucket.list({ prefix: "", limit: 1 }))).toEqual([first]);
    });

    it.each(prefixRows)("list() %s", async (_, keys, start, listed) => {
      const prefix = await stored(keys);
      const options = { prefix: prefix + start };
      expect(keysOf(await bucket.list(options), prefix)).toEqual(listed);
      const pages = await everyPage(bucket, { ...options, limit: 1 });
      expect(pages.flatMap((page) => keysOf(page, prefix))).toEqual(listed);
    });

    it.each([1, 2, 3, 4, 5, 6])("list() returns every key once in pages of %i", async (limit) => {
      const names = ["a", "b", "c", "d", "e"];
      const prefix = await stored(names);
      const pages = await everyPage(bucket, { prefix, limit });
      expect(pages.flatMap((page) => keysOf(page, prefix))).toEqual(names);
      for (const page of pages) expect(page.objects.length).toBeLessThanOrEqual(limit);
      expect(pages).toHaveLength(Math.ceil(names.length / limit));
      expect("cursor" in (pages.at(-1) as object)).toBe(false);
    });

    it("list() continues after a deleted key, and includes keys added since", async () => {
      const prefix = await stored(["a", "b", "d"]);
      const cursor = cursorOf(await bucket.list({ prefix, limit: 2 }));
      await bucket.delete(`${prefix}b`);
      await bucket.put(`${prefix}c`, "x");
      await bucket.put(`${prefix}aa`, "x");
      const next = await bucket.list({ prefix, limit: 2, cursor });
      expect(keysOf(next, prefix)).toEqual(["c", "d"]);
    });

    it("list() takes a cursor on another binding of the bucket", async () => {
      const prefix = await stored(["a", "b"]);
      const cursor = cursorOf(await bucket.list({ prefix, limit: 1 }));
      const next = await env.OLD_DATE_FLAG.list({ prefix, limit: 1, cursor });
      expect(keysOf(next, prefix)).toEqual(["b"]);
    });

    it("list() begins after startAfter, which is not listed", async () => {
      const prefix = await stored(["a", "b", "b/1", "c"]);
      const all = ["a", "b", "b/1", "c"];
      for (const [startAfter, expected] of [
        [prefix, all],
        [`${prefix}a`, ["b", "b/1", "c"]],
        [`${prefix}aa`, ["b", "b/1", "c"]],
        [`${prefix}b`, ["b/1", "c"]],
        [`${prefix}c`, []],
        [`${prefix}z`, []],
        // Outside of the prefix
        ["", all],
        ["!", all],
        ["\u{10FFFF}", []],
      ] as const) {
        expect(keysOf(await bucket.list({ prefix, startAfter }), prefix)).toEqual(expected);
      }
      const pages = await everyPage(bucket, { prefix, startAfter: `${prefix}a`, limit: 2 });
      expect(pages.map((page) => keysOf(page, prefix))).toEqual([["b", "b/1"], ["c"]]);
    });

    it("list() does not show uploads in progress", async () => {
      const key = freshKey();
      const upload = await bucket.createMultipartUpload(key);
      const part = await upload.uploadPart(1, "x");
      expect(keysOf(await bucket.list({ prefix: key }))).toEqual([]);
      await upload.complete([part]);
      expect(keysOf(await bucket.list({ prefix: key }))).toEqual([key]);
    });

    it("list() returns at most 1000 of 1001 keys, or groups them into one prefix", async () => {
      const names = Array.from(
        { length: 1001 },
        (_, index) => `:${String(index).padStart(4, "0")}`,
      );
      const prefix = await stored(names);
      const page = await bucket.list({ prefix });
      expect(page.objects).toHaveLength(1000);
      const next = await bucket.list({ prefix, cursor: cursorOf(page) });
      expect(keysOf(next, prefix)).toEqual([":1000"]);
      expect(next.truncated).toBe(false);
      const include: StoreListOptions["include"] = ["httpMetadata", "customMetadata"];
      const full = await bucket.list({ prefix, limit: 1000, include });
      expect([full.objects.length, full.truncated]).toEqual([1000, true]);
      const groups = await bucket.list({ prefix, delimiter: ":" });
      expect(groups.objects).toEqual([]);
      expect(groups.delimitedPrefixes).toEqual([prefix]);
      expect(groups.truncated).toBe(false);
    }, 90_000);
  });
}

/**
 * list() groups the keys that contain the delimiter after the prefix into `delimitedPrefixes`. In
 * the specification, these end before the delimiter. The flag `store_list_trailing_delimiter`
 * selects the form of the deployed service, which includes the delimiter.
 */
type DelimiterRow = [
  name: string,
  keys: string[],
  options: { prefix?: string; delimiter: string; startAfter?: string },
  objects: string[],
  prefixes: string[],
];

const slash = { delimiter: "/" };
const delimiterRows: DelimiterRow[] = [
  ["groups keys up to the first delimiter", ["foo/bar/baz"], slash, [], ["foo"]],
  [
    "groups keys up to the first delimiter after the prefix",
    ["foo/bar/baz"],
    { prefix: "foo/", ...slash },
    [],
    ["foo/bar"],
  ],
  [
    "groups keys for a prefix that ends within a segment",
    ["foo/bar/baz", "foo/bat", "foo/cat/x"],
    { prefix: "foo/ba", ...slash },
    ["foo/bat"],
    ["foo/bar"],
  ],
  ["lists other keys as objects", ["a", "b/1", "b/2", "c", "d/1/2"], slash, ["a", "c"], ["b", "d"]],
  ["lists a key and a prefix of the same name", ["foo", "foo/x"], slash, ["foo"], ["foo"]],
  ["groups a key that ends with the delimiter", ["foo/"], slash, [], ["foo"]],
  [
    "lists a key that is the prefix itself",
    ["foo/", "foo/a"],
    { prefix: "foo/", ...slash },
    ["foo/", "foo/a"],
    [],
  ],
  [
    "groups an empty segment",
    ["foo//a", "foo/b"],
    { prefix: "foo/", ...slash },
    ["foo/b"],
    ["foo/"],
  ],
  [
    "takes a delimiter of several characters",
    ["a--b--c", "a-b", "d--", "e-"],
    { delimiter: "--" },
    ["a-b", "e-"],
    ["a", "d"],
  ],
  [
    "takes a delimiter that is not ASCII",
    ["a→1", "a→2", "b", "→"],
    { prefix: "a", delimiter: "→" },
    [],
    ["a"],
  ],
  [
    "takes every character of the delimiter literally",
    ["a%1", "b_1", "c1"],
    { delimiter: "%" },
    ["b_1", "c1"],
    ["a"],
  ],
  ["treats an empty delimiter as none", ["a/1", "b"], { delimiter: "" }, ["a/1", "b"], []],
  [
    "orders prefixes by UTF-8 bytes",
    ["😀/1", "\uFF5E/1", "z/1", "é/1"],
    slash,
    [],
    ["z", "é", "\uFF5E", "😀"],
  ],
  [
    "continues after the largest code point",
    ["a\u{10FFFF}/1", "a\u{10FFFF}/2", "b/1"],
    slash,
    [],
    ["a\u{10FFFF}", "b"],
  ],
  [
    "begins after a startAfter within a group",
    ["a/1", "b/1", "b/2", "c"],
    { ...slash, startAfter: "b/1" },
    ["c"],
    ["b"],
  ],
  [
    "omits a group whose keys are all before startAfter",
    ["a/1", "b/1", "b/2", "c"],
    { ...slash, startAfter: "b/2" },
    ["c"],
    [],
  ],
];

export function listDelimiterSuite(): void {
  describe("list: delimiter", () => {
    it.each(delimiterRows)("list() %s", async (_, keys, given, objects, prefixes) => {
      const base = await stored(keys);
      const { prefix = "", delimiter, startAfter } = given;
      const options = {
        prefix: base + prefix,
        delimiter,
        ...(startAfter === undefined ? {} : { startAfter: base + startAfter }),
      };
      for (const [on, end] of [
        [bucket, ""],
        [env.TRAILING, delimiter],
      ] as const) {
        const page = await on.list(options);
        expect(keysOf(page, base)).toEqual(objects);
        expect(page.delimitedPrefixes).toEqual(prefixes.map((each) => base + each + end));
        expect(page.truncated).toBe(false);
      }
    });

    it("list() groups keys without a prefix", async () => {
      const base = await stored(["/bar/baz"]);
      for (const [on, expected] of [
        [bucket, base],
        [env.TRAILING, `${base}/`],
      ] as const) {
        const pages = await everyPage(on, slash);
        expect(pages.flatMap((page) => page.delimitedPrefixes)).toContain(expected);
      }
    });

    it.each([1, 2, 3, 4, 5])("list() counts prefixes toward a limit of %i", async (limit) => {
      const base = await stored(["a/1", "a/2", "a0", "b", "b/1", "b/2", "b/3", "c/1", "d"]);
      const pages = await everyPage(bucket, { prefix: base, delimiter: "/", limit });
      for (const page of pages) {
        expect(page.objects.length + page.delimitedPrefixes.length).toBeLessThanOrEqual(limit);
      }
      expect(pages.flatMap((page) => keysOf(page, base))).toEqual(["a0", "b", "d"]);
      const prefixes = ["a", "b", "c"].map((prefix) => base + prefix);
      expect(pages.flatMap((page) => page.delimitedPrefixes)).toEqual(prefixes);
      expect(pages).toHaveLength(Math.ceil(6 / limit));
    });

    it("list() returns a prefix once when keys are added to it between pages", async () => {
      const base = await stored(["a/1", "b"]);
      const options = { prefix: base, delimiter: "/", limit: 1 };
      const page = await bucket.list(options);
      expect(page.delimitedPrefixes).toEqual([`${base}a`]);
      await bucket.put(`${base}a/2`, "x");
      const next = await bucket.list({ ...options, cursor: cursorOf(page) });
      expect(next.delimitedPrefixes).toEqual([]);
      expect(keysOf(next, base)).toEqual(["b"]);
    });
  });
}

const http = { contentType: "text/plain" };
const custom = { colour: "red" };
type Include = NonNullable<StoreListOptions["include"]>;
const included: Include[] = [
  [],
  ["httpMetadata"],
  ["customMetadata"],
  ["httpMetadata", "customMetadata"],
  ["customMetadata", "customMetadata"],
];

export function listIncludeSuite(): void {
  describe("list: include", () => {
    const key = freshKey();
    beforeAll(async () => {
      await bucket.put(key, "x", { httpMetadata: http, customMetadata: custom });
    });

    async function metadataListed(on: StoreBucket, include?: Include) {
      const [object] = (await on.list({ prefix: key, ...(include && { include }) })).objects;
      return { http: object?.httpMetadata, custom: object?.customMetadata };
    }

    it("list() returns no metadata by default", async () => {
      expect(await metadataListed(bucket)).toEqual({ http: undefined, custom: undefined });
    });

    // By default, from 2022-08-04 on, and before with store_list_honor_include.
    it.each(["BUCKET", "HONOR_DATE", "OLD_DATE_FLAG"] as const)(
      "list() honours include on %s",
      async (name) => {
        for (const include of included) {
          expect(await metadataListed(env[name], include)).toEqual({
            http: include.includes("httpMetadata") ? http : undefined,
            custom: include.includes("customMetadata") ? custom : undefined,
          });
        }
      },
    );

    it("list() returns all metadata before 2022-08-04, whatever is included", async () => {
      for (const include of [undefined, ...included]) {
        expect(await metadataListed(env.OLD_DATE, include)).toEqual({ http, custom });
      }
    });

    it("list() returns empty metadata, and cacheExpiry as a Date", async () => {
      const prefix = freshKey();
      const cacheExpiry = new Date("2030-01-02T03:04:05.678Z");
      await bucket.put(`${prefix}1`, "x");
      await bucket.put(`${prefix}2`, "x", { httpMetadata: { cacheExpiry } });
      const page = await bucket.list({ prefix, include: ["httpMetadata", "customMetadata"] });
      const metadata = page.objects.map((object) => [object.httpMetadata, object.customMetadata]);
      expect(metadata).toEqual([
        [{}, {}],
        [{ cacheExpiry }, {}],
      ]);
    });

    it("writeHttpMetadata() of a listed object needs httpMetadata in include", async () => {
      const [bare] = (await bucket.list({ prefix: key, include: ["customMetadata"] })).objects;
      const headers = new Headers();
      const unknown = typeError(
        `HTTP metadata unknown for key \`${key}\`. ` +
          "Did you forget to add 'httpMetadata' to `include` when listing?",
      );
      await expect(() => bare?.writeHttpMetadata(headers)).toFailWith(unknown);
      expect([...headers]).toEqual([]);
      const [object] = (await bucket.list({ prefix: key, include: ["httpMetadata"] })).objects;
      object?.writeHttpMetadata(headers);
      expect([...headers]).toEqual([["content-type", "text/plain"]]);
    });

    it("list() limits the bytes of a page with metadata, and pages through everything", async () => {
      const prefix = freshKey();
      const names = Array.from({ length: 100 }, (_, index) => String(index).padStart(3, "0"));
      const customMetadata = { m: "m".repeat(8000) };
      await Promise.all(names.map((name) => bucket.put(prefix + name, "x", { customMetadata })));
      const pages = await everyPage(bucket, { prefix, include: ["customMetadata"] });
      // The specification says "about 256 KiB". The test allows half as much again.
      for (const { objects } of pages) {
        expect(objects.length * customMetadata.m.length).toBeLessThan(384 * 1024);
        expect(objects.length).toBeGreaterThan(0);
      }
      expect(pages.flatMap((page) => keysOf(page, prefix))).toEqual(names);
      const page = await bucket.list({ prefix });
      expect([page.objects.length, page.truncated]).toEqual([100, false]);
    });
  });
}
