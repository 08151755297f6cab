import { describe, expect, it } from "vitest";
import { EntryNames, parentLength } from "./archive.ts";

describe("parentLength()", () => {
  it.each([
    [[""], 0],
    [["a/"], 0],
    [["a/b/"], 2],
    [["a/b"], 2],
    [["a//"], 2],
    [["a/b/c", "a/b/d/", "a/bc"], 2],
    [["a/b/c", "d"], 0],
  ])("of %j is %d", (paths, length) => {
    expect(parentLength(paths)).toBe(length);
  });
});

function namesOf(keys: readonly string[], prefix = ""): string[] {
  const names = new EntryNames(parentLength([prefix]));
  return keys.map((key) => names.nameOf(key, key.endsWith("/") ? 0 : 1));
}

describe("EntryNames", () => {
  it("are the keys without the parent of the folder", () => {
    expect(namesOf(["a/b/c", "a/b/d/e"], "a/b/")).toEqual(["b/c", "b/d/e"]);
  });

  it("keep empty folders", () => {
    expect(namesOf(["a/", "a/b"])).toEqual(["a/", "a/b"]);
  });

  it.each([
    [["../x"]],
    [["/etc/passwd"]],
    [["a\\..\\b"]],
    [["a//b"]],
    [["a", "a/"]],
    [["A", "a"]],
    [["../"]],
  ])("of %j lead nowhere else, and differ", (keys) => {
    const names = namesOf(keys);
    expect(names.at(-1)).toMatch(/^\.ledge-keys\/[0-9a-f]{64}$/);
    expect(new Set(names).size).toBe(keys.length);
  });

  it("say which keys have other names", () => {
    const names = new EntryNames(2);
    const name = names.nameOf("a/../x", 1);
    expect([...names.renamed]).toEqual([[name, "a/../x"]]);
  });
});
