import { assert, pre, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesPattern, toPlainPattern } from "./key-pattern.ts";

const matches = (pattern: string | RegExp, key: string) =>
  matchesPattern(structuredClone(toPlainPattern(pattern)), key);

describe("toPlainPattern()", () => {
  it("takes a star for any run of characters, and nothing else for what it is not", () => {
    expect(matches("images/*.png", "images/2026/a.png")).toBe(true);
    expect(matches("images/*.png", "images/a.jpg")).toBe(false);
    expect(matches("a.png", "abpng")).toBe(false);
    expect(matches("*", "line\nline")).toBe(true);
  });

  it("matches a key without stars by itself alone", () => {
    assert(
      property(string(), string(), (key, other) => {
        pre(!key.includes("*"));
        expect(matches(key, key)).toBe(true);
        expect(matches(key, other)).toBe(key === other);
      }),
    );
  });

  it("takes a regular expression that remembers nothing", () => {
    const pattern = toPlainPattern(/^A/gi);
    expect([1, 2, 3].map(() => matchesPattern(pattern, "a.png"))).toEqual([true, true, true]);
  });
});
