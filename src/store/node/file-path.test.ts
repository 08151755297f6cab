import { posix } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FilePaths, isPlainPath } from "./file-path.ts";

describe("isPlainPath()", () => {
  it.each(["a", "a/b.txt", ".hidden", "a b", "é", "😀", "a.b.c", "console", "..a"])(
    "accepts %j",
    (key) => expect(isPlainPath(key)).toBe(true),
  );

  it.each([
    "",
    "/",
    "/a",
    "a/",
    "a//b",
    ".",
    "..",
    "../a",
    "a/../b",
    "a/.",
    "a.",
    "a ",
    "a\\b",
    "a:b",
    "a\nb",
    "a\u0000",
    "\ud800",
    "con",
    "NUL.txt",
    "a/com1",
    ".ledge-keys/x",
    "x".repeat(201),
    "x/".repeat(400) + "x",
  ])("refuses %j", (key) => expect(isPlainPath(key)).toBe(false));
});

describe("FilePaths", () => {
  it.each([
    [["a", "A"], ["a"]],
    [["é", "e\u0301"], ["é"]],
    [["straße", "STRASSE"], ["straße"]],
    [["a", "a/b"], ["a"]],
    [["a/b", "A"], ["a/b"]],
    [
      ["a/b", "A/c"],
      ["a/b", "A/c"],
    ],
  ])("with the keys %j uses %j as paths", (keys, plain) => {
    const paths = new FilePaths();
    expect(keys.filter((key) => paths.pathOf(key) === key)).toEqual(plain);
  });

  it("assigns different paths inside the folder, none of which is a folder of another path", () => {
    const segment = fc.oneof(
      fc.constantFrom("a", "A", "b", "..", ".", "", "con", "é", "e\u0301", ".ledge-keys"),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 12 }), (keys) => {
        const assigned = new FilePaths();
        const paths = keys.map((each) => assigned.pathOf(each));
        const lower = paths.map((path) => path.normalize("NFC").toLowerCase());
        expect(new Set(lower).size).toBe(paths.length);
        const leaving = paths.filter(
          (path) => posix.normalize(path) !== path || path.startsWith("../") || path === "..",
        );
        expect(leaving).toEqual([]);
        const files = new Set(lower);
        const folders = lower.flatMap((path) =>
          Array.from(path.matchAll(/\//g), ({ index }) => path.slice(0, index)),
        );
        expect(folders.filter((folder) => files.has(folder))).toEqual([]);
        const repeated = new FilePaths();
        expect(keys.map((each) => repeated.pathOf(each))).toEqual(paths);
      }),
    );
  });

  it("keeps an empty folder beside the files in it, and not beside a file with its path", () => {
    const paths = new FilePaths();
    expect(paths.pathOf("a")).toBe("a");
    expect(["A", "a/b", "c/d", "../x", ""].map((path) => paths.takeFolder(path))).toEqual([
      false,
      false,
      true,
      false,
      false,
    ]);
    expect(paths.pathOf("c/d/e")).toBe("c/d/e");
    expect(paths.pathOf("c/D")).toMatch(/^\.ledge-keys\//);
  });
});
