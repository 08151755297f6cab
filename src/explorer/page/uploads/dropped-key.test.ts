import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { droppedKey, folderOf, numberedKey } from "./dropped-key.ts";

describe("droppedKey()", () => {
  it("appends the path to the prefix without a leading slash", () => {
    expect(droppedKey("photos/", "/2026/a.jpg")).toBe("photos/2026/a.jpg");
    expect(droppedKey("", "/a.jpg")).toBe("a.jpg");
  });

  it("keeps a name as it is typed", () => {
    expect(droppedKey("", "../a b?#%2F.txt")).toBe("../a b?#%2F.txt");
    expect(droppedKey("p/", "..")).toBe("p/..");
  });
});

describe("numberedKey()", () => {
  it("puts the number before the extension", () => {
    expect(numberedKey("a/photo.jpg", 2)).toBe("a/photo (2).jpg");
    expect(numberedKey("archive.tar.gz", 3)).toBe("archive.tar (3).gz");
  });

  it("puts the number at the end of a name without an extension", () => {
    expect(numberedKey("a.b/README", 2)).toBe("a.b/README (2)");
    expect(numberedKey("folder/.gitignore", 2)).toBe("folder/.gitignore (2)");
  });

  it("gives a different key for each number, in the same folder", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 99 }), (key, number) => {
        const second = numberedKey(key, number);
        expect(second).not.toBe(numberedKey(key, number + 1));
        expect(second.split("/").slice(0, -1)).toEqual(key.split("/").slice(0, -1));
        expect(second.replace(` (${number})`, "")).toHaveLength(key.length);
      }),
    );
  });
});

describe("folderOf()", () => {
  it("is the key up to its last slash", () => {
    expect(folderOf("a/b/c.txt")).toBe("a/b/");
    expect(folderOf("c.txt")).toBe("");
    expect(folderOf("a/")).toBe("a/");
  });
});
