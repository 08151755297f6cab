import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedObject, ObjectPage } from "../../api/buckets.ts";
import { objectTask as task } from "../fixtures.ts";
import {
  countRows,
  deletionFinder,
  nextAfter,
  nextSort,
  objectRows,
  rowIcon,
  rowType,
  selectionOf,
  withoutRepeatedFolder,
  breadcrumbs,
  copyTarget,
  lastSegment,
  parentFolder,
  splitPrefix,
} from "./object-rows.ts";

const object = (key: string, size: number, uploaded: number): ListedObject => ({
  key,
  size,
  uploaded,
  etag: "e",
  storageClass: "Standard",
  contentType: null,
});

const page: ObjectPage = {
  folders: ["a/", "b/"],
  objects: [object("c", 5, 10), object("d", 1, 30), object("e", 5, 20)],
  cursor: null,
};

const paths = (sort: Parameters<typeof objectRows>[1]): readonly string[] =>
  objectRows(page, sort).map((row) => row.path);

describe("objectRows()", () => {
  it("has folders first, in every order", () => {
    expect(paths("key")).toEqual(["a/", "b/", "c", "d", "e"]);
    expect(paths("-key")).toEqual(["b/", "a/", "e", "d", "c"]);
    expect(paths("-uploaded")).toEqual(["a/", "b/", "d", "e", "c"]);
    expect(paths("uploaded")).toEqual(["a/", "b/", "c", "e", "d"]);
  });

  it("keeps objects of one size in the order of their keys", () => {
    expect(paths("size")).toEqual(["a/", "b/", "d", "c", "e"]);
    expect(paths("-size")).toEqual(["a/", "b/", "c", "e", "d"]);
  });
});

it.each([
  ["key", "key", "-key"],
  ["-size", "size", "size"],
  ["key", "size", "-size"],
  ["-size", "uploaded", "-uploaded"],
  ["-size", "key", "key"],
] as const)("nextSort() makes of %s at the column %s the order %s", (sort, column, next) => {
  expect(nextSort(sort, column)).toBe(next);
});

it("countRows() counts folders and objects by name", () => {
  const rows = objectRows(page, "key");
  const counted = [rows, rows.slice(0, 1), rows.slice(4), []].map(countRows);
  expect(counted).toEqual(["2 folders, 3 objects", "1 folder", "1 object", "0 objects"]);
});

const row = (key: string, contentType: string | null) =>
  objectRows(
    { folders: [], objects: [{ ...object(key, 1, 1), contentType }], cursor: null },
    "key",
  )[0]!;

describe("rowIcon() and rowType()", () => {
  it("go by the content type", () => {
    expect(rowType(row("a", "text/html; charset=utf-8"))).toBe("text/html");
    expect(rowIcon(row("a.png", "text/html; charset=utf-8"))).toBe("code");
    expect(rowIcon(row("a", "application/ld+json"))).toBe("json");
    expect(rowIcon(row("a", "application/x-tar"))).toBe("archive");
    expect(rowIcon(row("a", "application/vnd.unknown"))).toBe("file");
  });

  it("go by the extension without a type", () => {
    expect(rowType(row("a.PNG", null))).toBe("");
    expect(rowIcon(row("a.PNG", null))).toBe("image");
    expect(rowIcon(row("a.mp3", "application/octet-stream"))).toBe("audio");
    expect(rowIcon(row("png", null))).toBe("file");
  });
});

it("selectionOf() has the keys of objects and the prefixes of folders", () => {
  const rows = objectRows(page, "key").slice(1, 3);
  const selection = { bucket: "photos", keys: ["c"], prefixes: ["b/"] };
  expect(selectionOf("photos", rows)).toEqual(selection);
});

const pageOf = (folders: readonly string[], keys: readonly string[]): ObjectPage => ({
  folders,
  objects: keys.map((key) => object(key, 1, 0)),
  cursor: "more",
});

describe("nextAfter()", () => {
  it("is the last key or folder, whichever comes later", () => {
    expect(nextAfter(pageOf(["a/", "c/"], ["b"]))).toBe("c/");
    expect(nextAfter(pageOf(["a/"], ["b"]))).toBe("b");
    expect(nextAfter(pageOf([], ["b"]))).toBe("b");
    expect(nextAfter(pageOf(["a/"], []))).toBe("a/");
  });

  it("compares in the order of UTF-8, in which U+FFFF comes before an emoji", () => {
    expect(nextAfter(pageOf(["\u{ffee}/"], ["\u{1f600}"]))).toBe("\u{1f600}");
  });

  it("is null on the last page", () => {
    expect(nextAfter({ ...pageOf([], ["b"]), cursor: null })).toBeNull();
  });

  it("leads through every key and folder once", () => {
    const name = fc.string({ minLength: 1, unit: fc.constantFrom("a", "b", "/") });
    fc.assert(
      fc.property(fc.uniqueArray(name), fc.integer({ min: 2, max: 5 }), (keys, limit) => {
        const items = [
          ...new Set(keys.map((key) => key.slice(0, key.indexOf("/") + 1 || undefined))),
        ];
        const seen: string[] = [];
        for (let after: string | null = ""; after !== null;) {
          const next = withoutRepeatedFolder(listAfter(keys, after, limit), after);
          seen.push(...next.folders, ...next.objects.map(({ key }) => key));
          after = nextAfter(next);
        }
        expect(seen.toSorted()).toEqual(items.toSorted());
      }),
    );
  });
});

/** A page as the store lists it: with the folders of all keys after the given key. */
function listAfter(keys: readonly string[], after: string, limit: number): ObjectPage {
  const items = new Set<string>();
  for (const key of keys.toSorted()) {
    if (after !== "" && key <= after) continue;
    const end = key.indexOf("/");
    items.add(end === -1 ? key : key.slice(0, end + 1));
  }
  const shown = [...items].slice(0, limit);
  const folders = shown.filter((item) => item.endsWith("/"));
  const objects = shown.filter((item) => !item.endsWith("/")).map((key) => object(key, 1, 0));
  return { folders, objects, cursor: items.size > limit ? "more" : null };
}

describe("deletionFinder()", () => {
  it("finds objects by their keys, and by the folder that they are in", () => {
    const find = deletionFinder([task({ keys: ["a"], prefixes: ["c/"] })], "photos");
    expect(find("a", false)?.id).toBe("1");
    expect(find("c/d", false)?.id).toBe("1");
    expect(find("c/", true)?.id).toBe("1");
    expect(find("b", false)).toBeUndefined();
  });

  it("does not take an object for the folder of the same name", () => {
    const find = deletionFinder([task({ keys: ["c/"] })], "photos");
    expect(find("c/", true)).toBeUndefined();
    expect(find("c/", false)?.id).toBe("1");
  });

  it("finds nothing of other buckets, of copies and of tasks that ended", () => {
    const others = [
      task({ bucket: "other" }),
      task({ kind: "copy" }),
      task({ state: "cancelled" }),
      task({ state: "done" }),
    ];
    expect(deletionFinder(others, "photos")("a", false)).toBeUndefined();
  });
});

it.each([
  ["photos/2026/ca", { folder: "photos/2026/", text: "ca" }],
  ["photos/", { folder: "photos/", text: "" }],
  ["ca", { folder: "", text: "ca" }],
])("splitPrefix() searches %s for the text after the last delimiter", (prefix, parts) => {
  expect(splitPrefix(prefix)).toEqual(parts);
});

it("breadcrumbs() names each folder and where the folder is, also a folder without a name", () => {
  expect(breadcrumbs("photos/2026//")).toEqual([
    { name: "photos", prefix: "photos/" },
    { name: "2026", prefix: "photos/2026/" },
    { name: "", prefix: "photos/2026//" },
  ]);
  expect(breadcrumbs("")).toEqual([]);
});

describe("lastSegment() and parentFolder()", () => {
  it("name a key and a folder, and where they are", () => {
    const names = ["photos/cat.jpg", "photos/2026/", "a//", "cat.jpg"];
    expect(names.map(lastSegment)).toEqual(["cat.jpg", "2026/", "/", "cat.jpg"]);
    expect(names.map(parentFolder)).toEqual(["photos/", "photos/", "a/", ""]);
  });
});

describe("copyTarget()", () => {
  it("is the key of one object, which keeps its name in a folder", () => {
    const one = { bucket: "photos", keys: ["2026/cat.jpg"], prefixes: [] };
    expect(copyTarget(one, "old/cat")).toBe("old/cat");
    expect(copyTarget(one, "old/")).toBe("old/cat.jpg");
    expect(copyTarget(one, "")).toBe("cat.jpg");
  });

  it("is a folder for all else, with or without the delimiter", () => {
    const many = { bucket: "photos", keys: ["2026/cat.jpg"], prefixes: ["2026/raw/"] };
    const targets = ["old", "old/", ""].map((typed) => copyTarget(many, typed));
    expect(targets).toEqual(["old/", "old/", ""]);
  });
});
