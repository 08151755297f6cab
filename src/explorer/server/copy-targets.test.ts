import { describe, expect, it } from "vitest";
import type { CopyTask } from "../api/tasks.ts";
import { copyTargets, lastSegment, plainSelection } from "./copy-targets.ts";

function task(change: Partial<CopyTask>): CopyTask {
  return {
    kind: "copy",
    bucket: "photos",
    keys: [],
    prefixes: [],
    to: { bucket: "photos", key: "new/" },
    overwrite: false,
    ...change,
  };
}

describe("plainSelection()", () => {
  it("leaves out what is named twice", () => {
    const selection = {
      bucket: "photos",
      keys: ["a", "a", "b/c", "bc"],
      prefixes: ["b/", "b/d/", "b/"],
    };
    expect(plainSelection(selection)).toEqual({
      bucket: "photos",
      keys: ["a", "bc"],
      prefixes: ["b/"],
    });
  });

  it("refuses a request without objects, and a folder without a name", () => {
    const nothing = { bucket: "photos", keys: [], prefixes: [] };
    expect(() => plainSelection(nothing)).toThrow("names no objects");
    expect(() => plainSelection({ ...nothing, prefixes: [""] })).toThrow("must not be empty");
  });
});

describe("copyTargets()", () => {
  it("takes the new key of one object as it is", () => {
    const targetOf = copyTargets(task({ keys: ["a/b"], to: { bucket: "photos", key: "c" } }));
    expect(targetOf("a/b")).toBe("c");
  });

  it("appends the last segments of several keys and folders", () => {
    const targetOf = copyTargets(task({ keys: ["a/b", "c"], prefixes: ["d/e/"] }));
    expect(["a/b", "c", "d/e/f/g", "d/e/"].map(targetOf)).toEqual([
      "new/b",
      "new/c",
      "new/e/f/g",
      "new/e/",
    ]);
  });

  it.each([
    [{ keys: ["a"], to: { bucket: "photos", key: "a" } }, '"a" is there already'],
    [{ keys: ["new/a", "b"] }, '"new/a" is there already'],
    [{ prefixes: ["new/a/"] }, '"new/a/" is there already'],
    [{ prefixes: ["new/"] }, 'The folder "new/" cannot be copied into itself'],
    [
      { prefixes: ["a/"], kind: "move" as const, to: { bucket: "photos", key: "a/b/" } },
      'The folder "a/" cannot be moved into itself',
    ],
    [{ keys: ["a/x", "b/x"] }, 'Two of the selected names end in "x"'],
    [{ prefixes: ["a/x/", "b/x/"] }, 'Two of the selected names end in "x/"'],
  ])("refuses %j", (change, message) => {
    expect(() => copyTargets(task(change))).toThrow(message);
  });

  it("copies a folder to the same place in another bucket", () => {
    const to = { bucket: "archive", key: "" };
    expect(copyTargets(task({ prefixes: ["a/"], to }))("a/b")).toBe("a/b");
  });
});

describe("lastSegment()", () => {
  it.each([
    ["a/b/c", "c"],
    ["a/b/", "b/"],
    ["a", "a"],
    ["a//", "/"],
    ["", ""],
  ])("of %j is %j", (path, segment) => {
    expect(lastSegment(path)).toBe(segment);
  });
});
