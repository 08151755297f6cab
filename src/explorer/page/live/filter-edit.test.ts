import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFilter } from "./activity-filter.ts";
import { hasWord, minimumOf, toggleWord, withMinimum } from "./filter-edit.ts";

describe("toggleWord()", () => {
  it("adds a word, and removes the word again", () => {
    const added = toggleWord("cat pictures", "is:error");
    expect(added).toBe("cat pictures is:error");
    expect(hasWord(added, "is:error")).toBe(true);
    expect(toggleWord(added, "is:error")).toBe("cat pictures");
  });

  it("leaves a text in quotes alone", () => {
    expect(toggleWord('"a is:error b"', "is:error")).toBe('"a is:error b" is:error');
  });

  it("undoes itself, for any text without an open quote", () => {
    const text = fc.string().filter((given) => !given.includes('"') && !hasWord(given, "is:ok"));
    fc.assert(
      fc.property(text, (given) => {
        const twice = toggleWord(toggleWord(given, "is:ok"), "is:ok");
        expect(parseFilter(twice)).toEqual(parseFilter(given));
      }),
    );
  });
});

describe("withMinimum()", () => {
  it("replaces the minimum, and removes it with 0", () => {
    expect(withMinimum(">1s cats", 100)).toBe("cats >100ms");
    expect(withMinimum("cats >100ms", 0)).toBe("cats");
  });

  it("is read back by minimumOf()", () => {
    fc.assert(
      fc.property(fc.nat(), (milliseconds) => {
        expect(minimumOf(withMinimum("cats", milliseconds))).toBe(milliseconds);
      }),
    );
    expect(minimumOf("cats >soon")).toBe(0);
  });
});
