import { assert, pre, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesPattern, toPlainPattern } from "./text-pattern.ts";

const matches = (pattern: string | RegExp, text: string) =>
  matchesPattern(structuredClone(toPlainPattern(pattern)), text);

describe("toPlainPattern()", () => {
  it("takes a star for any characters, and every other character for itself", () => {
    expect(matches("images/*.png", "images/2026/a.png")).toBe(true);
    expect(matches("images/*.png", "images/a.jpg")).toBe(false);
    expect(matches("a.png", "abpng")).toBe(false);
    expect(matches("*", "line\nline")).toBe(true);
  });

  it("makes text without a star match only the same text", () => {
    assert(
      property(string(), string(), (text, other) => {
        pre(!text.includes("*"));
        expect(matches(text, text)).toBe(true);
        expect(matches(text, other)).toBe(text === other);
      }),
    );
  });

  it("removes the flags that make a regular expression keep a position", () => {
    const pattern = toPlainPattern(/^A/gi);
    expect([1, 2, 3].map(() => matchesPattern(pattern, "a.png"))).toEqual([true, true, true]);
  });
});
