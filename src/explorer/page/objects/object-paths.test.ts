import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { breadcrumbs, copyTarget, lastSegment, parentFolder, splitPrefix } from "./object-paths.ts";

const path = fc.string({ unit: fc.constantFrom("a", "b", "/", "é", "𝕏") });

describe("splitPrefix()", () => {
  it("takes the text after the last delimiter as what is searched", () => {
    expect(splitPrefix("photos/2026/ca")).toEqual({ folder: "photos/2026/", text: "ca" });
    expect(splitPrefix("photos/")).toEqual({ folder: "photos/", text: "" });
    expect(splitPrefix("ca")).toEqual({ folder: "", text: "ca" });
  });

  it("keeps every character", () => {
    fc.assert(
      fc.property(path, (prefix) => {
        const { folder, text } = splitPrefix(prefix);
        expect(folder + text).toBe(prefix);
        expect(text).not.toContain("/");
      }),
    );
  });
});

describe("breadcrumbs()", () => {
  it("names each folder and where the folder is", () => {
    expect(breadcrumbs("photos/2026/")).toEqual([
      { name: "photos", prefix: "photos/" },
      { name: "2026", prefix: "photos/2026/" },
    ]);
    expect(breadcrumbs("")).toEqual([]);
  });

  it("has a folder without a name where two delimiters follow each other", () => {
    expect(breadcrumbs("a//")).toEqual([
      { name: "a", prefix: "a/" },
      { name: "", prefix: "a//" },
    ]);
  });

  it("ends at the folder, each folder in the folder before", () => {
    fc.assert(
      fc.property(path, (prefix) => {
        const { folder } = splitPrefix(prefix);
        const crumbs = breadcrumbs(folder);
        expect(crumbs.at(-1)?.prefix ?? "").toBe(folder);
        for (const [index, crumb] of crumbs.entries()) {
          expect(parentFolder(crumb.prefix)).toBe(crumbs[index - 1]?.prefix ?? "");
        }
      }),
    );
  });
});

describe("lastSegment()", () => {
  it("names a key and a folder in its parent", () => {
    expect(lastSegment("photos/cat.jpg")).toBe("cat.jpg");
    expect(lastSegment("photos/2026/")).toBe("2026/");
    expect(lastSegment("cat.jpg")).toBe("cat.jpg");
  });

  it("completes the parent folder", () => {
    fc.assert(
      fc.property(path, (key) => {
        expect(parentFolder(key) + lastSegment(key)).toBe(key);
        expect(lastSegment(key) === "").toBe(key === "");
      }),
    );
  });
});

const one = { bucket: "photos", keys: ["2026/cat.jpg"], prefixes: [] };
const many = { bucket: "photos", keys: ["2026/cat.jpg", "2026/dog.jpg"], prefixes: ["2026/raw/"] };

describe("copyTarget()", () => {
  it("is the key of one object", () => {
    expect(copyTarget(one, { bucket: "photos", typed: "old/cat" })).toEqual({ key: "old/cat" });
  });

  it("keeps the name of one object in a folder", () => {
    expect(copyTarget(one, { bucket: "photos", typed: "old/" })).toEqual({ key: "old/cat.jpg" });
    expect(copyTarget(one, { bucket: "photos", typed: "" })).toEqual({ key: "cat.jpg" });
  });

  it("is a folder for many objects, with or without the delimiter", () => {
    expect(copyTarget(many, { bucket: "photos", typed: "old" })).toEqual({ key: "old/" });
    expect(copyTarget(many, { bucket: "photos", typed: "old/" })).toEqual({ key: "old/" });
    expect(copyTarget(many, { bucket: "photos", typed: "" })).toEqual({ key: "" });
  });

  it("refuses the place where the objects are, but not in another bucket", () => {
    expect(copyTarget(one, { bucket: "photos", typed: "2026/cat.jpg" })).toHaveProperty("problem");
    expect(copyTarget(one, { bucket: "photos", typed: "2026/" })).toHaveProperty("problem");
    expect(copyTarget(many, { bucket: "photos", typed: "2026" })).toHaveProperty("problem");
    expect(copyTarget(many, { bucket: "other", typed: "2026" })).toEqual({ key: "2026/" });
    expect(copyTarget(one, { bucket: "other", typed: "2026/cat.jpg" })).toEqual({
      key: "2026/cat.jpg",
    });
  });

  it("refuses a folder in itself, which would have no end", () => {
    expect(copyTarget(many, { bucket: "photos", typed: "2026/raw/copy" })).toHaveProperty(
      "problem",
    );
    expect(copyTarget(many, { bucket: "photos", typed: "2026/rawer" })).toEqual({
      key: "2026/rawer/",
    });
  });

  it("refuses a key of more than 1,024 bytes", () => {
    expect(copyTarget(one, { bucket: "photos", typed: "é".repeat(512) })).toHaveProperty("key");
    expect(copyTarget(one, { bucket: "photos", typed: "é".repeat(513) })).toEqual({
      problem: expect.stringContaining("1026"),
    });
  });
});
