import { describe, expect, it } from "vitest";
import { findExcessiveNesting, isNestedTooDeep } from "./nesting.ts";

const lists = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const tables = (levels: number): string => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);

describe("findExcessiveNesting()", () => {
  it("accepts the limit, and finds the bracket above it", () => {
    expect(findExcessiveNesting(lists(100))).toBeNull();
    expect(findExcessiveNesting(lists(101))).toBe(100);
    expect(findExcessiveNesting(tables(100))).toBeNull();
    expect(findExcessiveNesting(tables(101))).toBe(500);
    expect(findExcessiveNesting(`{"x":${lists(100_000)}}`)).toBe(5 + 99);
  });

  it("counts levels and not brackets", () => {
    expect(findExcessiveNesting(`[${"[],{},".repeat(1000)}1]`)).toBeNull();
  });

  it("ignores brackets in strings and comments", () => {
    const brackets = "[".repeat(200);
    expect(findExcessiveNesting(`{"a":"${brackets}\\"${brackets}"}`)).toBeNull();
    expect(findExcessiveNesting(`// ${brackets}\n/* ${brackets} */ {}`)).toBeNull();
    expect(findExcessiveNesting(`"\\\\" ${brackets}`)).toBe(5 + 100);
  });

  it("ends for text that is not JSON", () => {
    for (const text of ['"'.repeat(1001), "/*".repeat(1000), "]".repeat(1000), "\\".repeat(1000)])
      expect(findExcessiveNesting(text)).toBeNull();
  });
});

describe("isNestedTooDeep()", () => {
  it("agrees with the text", () => {
    for (const text of [lists(100), lists(101), tables(100), tables(101), lists(5000), "1"])
      expect(isNestedTooDeep(JSON.parse(text))).toBe(findExcessiveNesting(text) !== null);
  });
});
