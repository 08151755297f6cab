import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeCursor,
  type Position,
  listPage,
  presentPrefix,
  type ListedRow,
  type ListQuery,
  type ScanRows,
  uploadPage,
  type ScanUploads,
  encodeCursor,
} from "./list-page.ts";
import { compareKeys } from "./key.ts";
import type { UploadPosition, UploadRecord } from "./operations.ts";
import { StoreError } from "./errors.ts";

/** Rows in memory, and how many of them were read. */
class Source {
  readonly rows: ListedRow[];
  read = 0;
  scans = 0;

  constructor(keys: readonly string[], weigh: (key: string) => number = () => 1) {
    this.rows = keys.toSorted(compareKeys).map((key) => ({ key, weight: weigh(key) }));
  }

  readonly scan: ScanRows<ListedRow> = ({ from, end }) => {
    this.scans++;
    return this.#rowsBetween(from.key, from.inclusive, end);
  };

  *#rowsBetween(start: string, inclusive: boolean, end: string | null): Generator<ListedRow> {
    for (const row of this.rows) {
      const order = compareKeys(row.key, start);
      if (order < 0 || (order === 0 && !inclusive)) continue;
      if (end !== null && compareKeys(row.key, end) >= 0) return;
      this.read++;
      yield row;
    }
  }
}

function query(options: Partial<ListQuery> = {}): ListQuery {
  return { prefix: "", delimiter: "", limit: 1000, weightMax: Infinity, ...options };
}

/** The items of a page in order: keys, and prefixes followed by a star. */
function itemsOf({ rows, prefixes }: ReturnType<typeof listPage>): string[] {
  return [...rows.map((row) => row.key), ...prefixes.map((text) => `${text}*`)].sort(compareKeys);
}

/** The items of all pages, from the first page to the page without a cursor. */
function follow(asked: ListQuery, source: Source): string[][] {
  const pages: string[][] = [];
  let after: Position | undefined;
  do {
    source.read = 0;
    const page = listPage({ ...asked, ...(after !== undefined && { after }) }, source.scan);
    pages.push(itemsOf(page));
    // One row for each item, and one row to find out whether more follow.
    expect(source.read).toBeLessThanOrEqual(page.rows.length + page.prefixes.length + 1);
    after = page.cursor === undefined ? undefined : decodeCursor(page.cursor);
  } while (after !== undefined && pages.length < 100);
  return pages;
}

/** The items of a listing, computed by a simple model. */
function expectedItems(
  keys: readonly string[],
  { prefix, delimiter, startAfter }: ListQuery,
): string[] {
  const listed = keys.filter(
    (key) =>
      key.startsWith(prefix) && (startAfter === undefined || compareKeys(key, startAfter) > 0),
  );
  const items = listed.map((key) => {
    const [head, ...tail] = delimiter === "" ? [key] : key.slice(prefix.length).split(delimiter);
    return tail.length === 0 ? key : `${prefix}${head}${delimiter}*`;
  });
  return [...new Set(items)].sort(compareKeys);
}

const afterKey = (text: string) => ({ after: { kind: "key", text } }) as const;
const afterPrefix = (text: string) => ({ after: { kind: "prefix", text } }) as const;

const part = fc.constantFrom("a", "b", "/", "0", "\xe9", "\uffff", "\u{1f600}", "\u{10ffff}");
const textOf = (lengths: fc.StringConstraints): fc.Arbitrary<string> =>
  fc.string({ unit: part, ...lengths });
const keySet = fc.uniqueArray(textOf({ minLength: 1, maxLength: 5 }), { maxLength: 40 });
const anyQuery = fc.record(
  {
    prefix: textOf({ maxLength: 2 }),
    delimiter: fc.oneof(fc.constantFrom("", "/"), textOf({ maxLength: 2 })),
    startAfter: textOf({ maxLength: 3 }),
    limit: fc.integer({ min: 1, max: 6 }),
  },
  { requiredKeys: ["prefix", "delimiter", "limit"] },
);

describe("listPage()", () => {
  it("returns the pages of the model, and reads no more rows than it returns", () => {
    fc.assert(
      fc.property(keySet, anyQuery, (keys, options) => {
        const asked = query(options);
        const items = expectedItems(keys, asked);
        const pages = Math.max(1, Math.ceil(items.length / asked.limit));
        expect(follow(asked, new Source(keys))).toStrictEqual(
          Array.from({ length: pages }, (_, index) =>
            items.slice(index * asked.limit, (index + 1) * asked.limit),
          ),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it("returns the same items on smaller pages when rows are heavy", () => {
    fc.assert(
      fc.property(keySet, anyQuery, fc.nat({ max: 8 }), (keys, options, weightMax) => {
        const asked = query({ ...options, weightMax });
        const pages = follow(asked, new Source(keys, (key) => key.length % 4));
        expect(pages.flat()).toStrictEqual(expectedItems(keys, asked));
        for (const page of pages) {
          const keysShown = page.filter((item) => !item.endsWith("*"));
          const weight = keysShown.reduce((sum, key) => sum + (key.length % 4), 0);
          expect(page.length === 1 || weight <= weightMax).toBe(true);
          expect(page.length).toBeLessThanOrEqual(asked.limit);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("reads one row of a folder of any size", () => {
    const folder = Array.from({ length: 10_000 }, (_, index) => `big/${index}`);
    const source = new Source(["a", ...folder, "c", "d/1", "d/2"]);
    const page = listPage(query({ delimiter: "/" }), source.scan);
    expect(page).toMatchObject({ prefixes: ["big/", "d/"], rows: [{ key: "a" }, { key: "c" }] });
    expect(source).toMatchObject({ read: 4, scans: 3 });
  });

  it("reads one row more than a full page holds", () => {
    const source = new Source(Array.from({ length: 10_000 }, (_, index) => `${index}`));
    expect(listPage(query({ limit: 10 }), source.scan).rows).toHaveLength(10);
    expect(source).toMatchObject({ read: 11, scans: 1 });
  });

  const slash = { delimiter: "/" };
  const last = "\u{10ffff}";
  it.each<[string, string, Partial<ListQuery>, string]>([
    ["the specification's example", "foo/bar/baz", slash, "foo/*"],
    ["the same with a prefix", "foo/bar/baz", { ...slash, prefix: "foo/" }, "foo/bar/*"],
    ["a prefix that is a key", "a a/ a/b a0", { ...slash, prefix: "a/" }, "a/ a/b"],
    ["a key directly after a folder", "a/1 a0", slash, "a/* a0"],
    ["a folder from the middle", "a/1 a/2 b", { ...slash, startAfter: "a/1" }, "a/* b"],
    ["a prefix after startAfter", "a b c", { prefix: "b", startAfter: "a" }, "b"],
    ["keys after a startAfter that is the prefix", "b b1", { prefix: "b", startAfter: "b" }, "b1"],
    ["a prefix after the position", "a b c", { prefix: "b", ...afterKey("a") }, "b"],
    [
      "keys after startAfter, which is after the position",
      "a b c",
      { startAfter: "b", ...afterKey("a") },
      "c",
    ],
    [
      "keys after the position, which is after startAfter",
      "a b c",
      { startAfter: "a", ...afterKey("b") },
      "c",
    ],
    [
      "keys after startAfter, where the position ends",
      "b c",
      { startAfter: "b", ...afterPrefix("a") },
      "c",
    ],
    ["a folder after all keys", `a ${last}1`, { delimiter: last }, `a ${last}*`],
    ["a key directly after the position", "a/1 a0", afterPrefix("a/"), "a0"],
    ["nothing after all keys", `a ${last}1`, { ...afterPrefix(last) }, ""],
    ["UTF-8 order", "\u{1f600} \uff5e", {}, "\uff5e \u{1f600}"],
  ])("lists %s", (_, keys, options, items) => {
    const page = listPage(query(options), new Source(keys.split(" ")).scan);
    expect(itemsOf(page).join(" ")).toBe(items);
    expect(page.cursor).toBeUndefined();
  });

  it.each([
    ["takes a first row that is too heavy", [9, 1], 5, 1],
    ["fills a page up to the maximum weight", [2, 3, 1], 5, 2],
    ["ends a page before a row that is too heavy", [2, 4], 5, 1],
    ["takes all rows without weight", [0, 0, 0], 0, 3],
  ])("%s", (_, weights, weightMax, shown) => {
    const source = new Source(Object.keys(weights), (key) => weights[Number(key)] ?? 0);
    const page = listPage(query({ weightMax }), source.scan);
    expect(page.rows).toHaveLength(shown);
    expect(page.cursor !== undefined).toBe(shown < weights.length);
  });
});

it.each([
  ["foo/", "/", false, "foo"],
  ["foo/", "/", true, "foo/"],
  ["a--", "--", false, "a"],
  ["/", "/", false, ""],
])("presentPrefix() of %j, %j, %j is %j", (rolledUp, delimiter, trailing, presented) => {
  expect(presentPrefix(rolledUp, delimiter, trailing)).toBe(presented);
});

/** Uploads in order: those of one key are in the order of the list. */
function uploadsOf(keys: readonly string[]): UploadRecord[] {
  return keys
    .map((key, index) => ({ key, uploadId: `u${index}`, created: index }))
    .sort((one, other) => compareKeys(one.key, other.key) || one.created - other.created)
    .map((upload) => ({ ...upload, storageClass: "Standard" }));
}

function scanOf(uploads: readonly UploadRecord[]): ScanUploads {
  const index = (id: string) => uploads.findIndex((upload) => upload.uploadId === id);
  return ({ from, end }) => {
    const isAfter = ({ key, uploadId }: UploadRecord): boolean => {
      const order = compareKeys(key, from.key);
      if (order !== 0) return order > 0;
      if (from.uploadId === undefined) return from.inclusive;
      return index(uploadId) > index(from.uploadId);
    };
    return uploads.filter(
      (upload) => isAfter(upload) && (end === null || compareKeys(upload.key, end) < 0),
    );
  };
}

const uploads = uploadsOf(["b", "a/1", "a/2", "b", "c/x/1", "a/1", "d"]);
const list = (request: Partial<Parameters<typeof uploadPage>[0]>) => {
  const page = uploadPage({ prefix: "", limit: 1000, ...request }, scanOf(uploads));
  return { ...page, uploads: page.uploads.map(({ key, uploadId }) => `${key} ${uploadId}`) };
};

describe("uploadPage()", () => {
  it("rolls keys up at the first delimiter after the prefix", () => {
    expect(list({ delimiter: "/" })).toEqual({
      uploads: ["b u0", "b u3", "d u6"],
      prefixes: ["a/", "c/"],
      truncated: false,
    });
    expect(list({ prefix: "c/", delimiter: "/" }).prefixes).toEqual(["c/x/"]);
    expect(list({ prefix: "a/", delimiter: "/" }).uploads).toEqual(["a/1 u1", "a/1 u5", "a/2 u2"]);
  });

  it("continues after a key, after an upload, and after a prefix", () => {
    expect(list({ after: { key: "a/1" } }).uploads[0]).toBe("a/2 u2");
    expect(list({ after: { key: "a/1", uploadId: "u1" } }).uploads[0]).toBe("a/1 u5");
    expect(list({ after: { key: "a/" }, delimiter: "/" }).prefixes).toEqual(["c/"]);
    expect(list({ after: { key: "a/" } }).uploads[0]).toBe("a/1 u1");
    expect(list({ after: { key: "A" }, prefix: "b" }).uploads).toEqual(["b u0", "b u3"]);
  });

  it("lists each upload and each prefix once, in pages of any size", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "/", "é"), maxLength: 4 })),
        fc.constantFrom("", "/", "a/"),
        fc.constantFrom("", "a", "b/"),
        fc.integer({ min: 1, max: 5 }),
        (keys, delimiter, prefix, limit) => {
          const scan = scanOf(uploadsOf(keys));
          const whole = uploadPage({ prefix, delimiter, limit: 1000 }, scan);
          const seen = { uploads: [] as UploadRecord[], prefixes: [] as string[] };
          let after: UploadPosition | undefined;
          do {
            const page = uploadPage({ prefix, delimiter, limit, ...(after && { after }) }, scan);
            seen.uploads.push(...page.uploads);
            seen.prefixes.push(...page.prefixes);
            expect(page.truncated).toBe(page.next !== undefined);
            after = page.next;
          } while (after !== undefined);
          expect(seen).toEqual({ uploads: whole.uploads, prefixes: whole.prefixes });
        },
      ),
    );
  });
});

const refusal = new StoreError(
  10001,
  "The cursor is not valid: pass the cursor of the previous page as it is.",
);

const position: fc.Arbitrary<Position> = fc.record(
  {
    kind: fc.constantFrom("key" as const, "prefix" as const),
    text: fc.oneof(fc.string({ unit: "binary" }), fc.string()),
  },
  { noNullPrototype: true },
);

it("decodeCursor() reverses encodeCursor() for every position", () => {
  fc.assert(
    fc.property(position, (given) => {
      expect(decodeCursor(encodeCursor(given))).toStrictEqual(given);
    }),
    { numRuns: 500 },
  );
});

it("encodeCursor() makes text that needs no escaping in a URL", () => {
  fc.assert(
    fc.property(position, (given) => {
      expect(encodeCursor(given)).toMatch(/^[A-Za-z0-9_-]+$/);
    }),
  );
});

it.each([
  ["nothing", ""],
  ["a key", "photos/2024/cat.jpg"],
  ["a key that is base64", "cGhvdG9z"],
  ["only a checksum of zeros", "AAAAAA"],
  ["fewer bytes than a checksum has", "AA"],
  ["a length that base64 never has", "AAAAA"],
  ["bytes that are not UTF-8", "AAAAAP___w"],
  ["padding", `${encodeCursor({ kind: "key", text: "a" })}=`],
  ["ordinary base64", encodeCursor({ kind: "key", text: "?>?>" }).replaceAll(/[-_]/g, "+")],
  ["white space around it", ` ${encodeCursor({ kind: "key", text: "a" })}`],
  ["a line break after it", `${encodeCursor({ kind: "key", text: "a" })}\n`],
])("decodeCursor() refuses %s", (_, cursor) => {
  expect(() => decodeCursor(cursor)).toThrow(refusal);
});

it("decodeCursor() refuses all other text with a StoreError", () => {
  const base64url = fc.base64String().map((text) => text.replaceAll("=", ""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string(), base64url), (text) => {
      expect(() => decodeCursor(text)).toThrow(refusal);
    }),
    { numRuns: 1000 },
  );
});

it("decodeCursor() refuses a cursor that was cut short", () => {
  fc.assert(
    fc.property(position, fc.nat(), (given, seed) => {
      const cursor = encodeCursor(given);
      expect(() => decodeCursor(cursor.slice(0, seed % cursor.length))).toThrow(refusal);
    }),
  );
});

it("decodeCursor() never takes a damaged cursor for another position", () => {
  const character = fc.constantFrom("A", "g", "8", "-", "_");
  fc.assert(
    fc.property(position, fc.nat(), character, (given, seed, wrong) => {
      const cursor = encodeCursor(given);
      const index = seed % cursor.length;
      const damaged = cursor.slice(0, index) + wrong + cursor.slice(index + 1);
      // The last character may hold unused bits.
      expect([given, refusal]).toContainEqual(decodeOrError(damaged));
    }),
    { numRuns: 500 },
  );
});

function decodeOrError(cursor: string): unknown {
  try {
    return decodeCursor(cursor);
  } catch (error) {
    return error;
  }
}
