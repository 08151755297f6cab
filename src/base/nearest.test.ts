import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

describe("nearest()", () => {
  it.each([
    ["bindng", "binding"],
    ["biding", "binding"],
    ["Binding", "binding"],
    ["bucket-name", "bucket_name"],
    ["bukcet_name", "bucket_name"],
  ])("finds for %j the word %j", (word, meant) => {
    expect(nearest(word, ["binding", "bucket_name", "storage_class"])).toBe(meant);
  });

  it("returns null for a word that is unlike all candidates", () => {
    expect(nearest("jurisdiction", ["binding", "bucket_name"])).toBeNull();
    expect(nearest("x", ["main"])).toBeNull();
    expect(nearest("main", [])).toBeNull();
    expect(nearest("k2", ["s3"])).toBeNull();
  });
});
