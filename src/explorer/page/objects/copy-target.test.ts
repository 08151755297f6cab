import { describe, expect, it } from "vitest";
import { copyTarget, renameTarget } from "./copy-target.ts";

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

describe("renameTarget()", () => {
  it("keeps the folder", () => {
    expect(renameTarget("2026/cat.jpg", "dog.jpg")).toEqual({ key: "2026/dog.jpg" });
    expect(renameTarget("cat.jpg", "dog.jpg")).toEqual({ key: "dog.jpg" });
  });

  it("refuses no name, and the same name", () => {
    expect(renameTarget("2026/cat.jpg", "")).toHaveProperty("problem");
    expect(renameTarget("2026/cat.jpg", "cat.jpg")).toHaveProperty("problem");
  });
});
