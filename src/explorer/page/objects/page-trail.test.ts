import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedObject, ObjectPage } from "../../api/buckets.ts";
import {
  findStart,
  firstTrail,
  nextAfter,
  previousAfter,
  withNext,
  withoutRepeatedFolder,
} from "./page-trail.ts";

const listed = (key: string): ListedObject => ({
  key,
  size: 1,
  uploaded: 0,
  etag: "e",
  storageClass: "Standard",
  contentType: null,
});
const pageOf = (folders: readonly string[], keys: readonly string[]): ObjectPage => ({
  folders,
  objects: keys.map(listed),
  cursor: "more",
});

describe("withNext()", () => {
  it("counts the rows before each page", () => {
    const second = withNext(firstTrail, { after: "", rows: 1000, next: "k" });
    const third = withNext(second, { after: "k", rows: 998, next: "p" });
    expect(findStart(third, "p")).toEqual({ after: "p", offset: 1998 });
    expect(previousAfter(third, "p")).toBe("k");
    expect(previousAfter(third, "k")).toBe("");
  });

  it("forgets the pages that came after, because the list may have changed", () => {
    const visited = withNext(firstTrail, { after: "", rows: 1000, next: "k" });
    expect(withNext(visited, { after: "", rows: 999, next: "j" })).toEqual([
      { after: "", offset: 0 },
      { after: "j", offset: 999 },
    ]);
  });

  it("does not know the number of a page of a shared link", () => {
    const trail = withNext(firstTrail, { after: "m", rows: 1000, next: "n" });
    expect(findStart(trail, "n")).toBeUndefined();
    expect(previousAfter(trail, "n")).toBe("");
  });
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
          const page = withoutRepeatedFolder(listAfter(keys, after, limit), after);
          seen.push(...page.folders, ...page.objects.map(({ key }) => key));
          after = nextAfter(page);
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
  const objects = shown.filter((item) => !item.endsWith("/")).map(listed);
  return { folders, objects, cursor: items.size > limit ? "more" : null };
}
