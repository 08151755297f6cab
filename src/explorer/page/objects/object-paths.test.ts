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

describe("copyTarget()", () => {
  it("is the key of one object, which keeps its name in a folder", () => {
    const one = { bucket: "photos", keys: ["2026/cat.jpg"], prefixes: [] };
    expect(copyTarget(one, "old/cat")).toBe("old/cat");
    expect(copyTarget(one, "old/")).toBe("old/cat.jpg");
    expect(copyTarget(one, "")).toBe("cat.jpg");
  });

  it("is a folder for all else, with or without the delimiter", () => {
    const many = { bucket: "photos", keys: ["2026/cat.jpg"], prefixes: ["2026/raw/"] };
    expect(["old", "old/", ""].map((typed) => copyTarget(many, typed))).toEqual([
      "old/",
      "old/",
      "",
    ]);
  });
});
