import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ListedObject, ObjectPage } from "../../api/buckets.ts";
import { nextSort, objectRows } from "./object-rows.ts";

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

  it("has every object once, under an id of its own", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 })),
        fc.uniqueArray(fc.string({ minLength: 1 })),
        fc.constantFrom("key" as const, "-key" as const, "-size" as const, "uploaded" as const),
        (folders, keys, sort) => {
          const objects = keys.map((key) => object(key, key.length, key.charCodeAt(0)));
          const rows = objectRows({ folders, objects, cursor: null }, sort);
          expect(new Set(rows.map((row) => row.id)).size).toBe(folders.length + keys.length);
          const listed = rows.filter((row) => row.kind === "object").map((row) => row.path);
          expect(new Set(listed)).toEqual(new Set(keys));
        },
      ),
    );
  });
});

describe("nextSort()", () => {
  it("turns the order of the column round", () => {
    expect(nextSort("key", "key")).toBe("-key");
    expect(nextSort("-size", "size")).toBe("size");
  });

  it("begins with the largest and with the newest", () => {
    expect(nextSort("key", "size")).toBe("-size");
    expect(nextSort("-size", "uploaded")).toBe("-uploaded");
    expect(nextSort("-size", "key")).toBe("key");
  });
});
