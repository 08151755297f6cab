import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countedNoun, formatDuration, formatTime, shownKey, spanWords } from "./format.ts";

describe("formatDuration()", () => {
  it.each([
    [0, "< 1 ms"],
    [0.0001, "1 µs"],
    [0.34, "340 µs"],
    [0.9996, "1 ms"],
    [4.24, "4.2 ms"],
    [9.96, "10 ms"],
    [999.6, "1.00 s"],
    [1250, "1.25 s"],
    [59_996, "1 min 0 s"],
    [125_000, "2 min 5 s"],
  ])("writes %d ms as %s", (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });
});

describe("spanWords()", () => {
  it.each([
    [691_200_000, "8 days"],
    [93_605_000, "1 day and 2 hours"],
    [90_500, "1 minute and 30 seconds"],
    [200, "200 ms"],
    [0, "0 ms"],
  ])("writes %d ms as %s", (milliseconds, text) => {
    expect(spanWords(milliseconds)).toBe(text);
  });
});

describe("formatTime()", () => {
  it("has one form, and shows a number that is no date as it is", () => {
    expect(formatTime(Date.now())).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    expect(formatTime(1e20)).toBe("100000000000000000000");
  });
});

describe("countedNoun()", () => {
  it("groups the digits, and knows the singular", () => {
    expect(countedNoun(1, "object")).toBe("1 object");
    expect(countedNoun(12_345, "object")).toBe("12,345 objects");
  });
});

describe("shownKey()", () => {
  it("escapes what would mislead a person", () => {
    expect(shownKey("evil\u202egpj.exe")).toBe("evil\\u202egpj.exe");
    expect(shownKey("a\r\n\tb\u0000")).toBe("a\\r\\n\\tb\\u0000");
    expect(shownKey("zero\u200bwidth\ufeff")).toBe("zero\\u200bwidth\\ufeff");
    expect(shownKey("half \ud83d pair")).toBe("half \\ud83d pair");
  });

  it("leaves other text as it is, in any script", () => {
    for (const key of ["שלום/תמונה.txt", "日本 語", "👩‍🚀.png", "می‌خواهم", "a\\b"]) {
      expect(shownKey(key)).toBe(key);
    }
  });

  it("leaves no control character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (key) => {
        expect(shownKey(key)).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});
