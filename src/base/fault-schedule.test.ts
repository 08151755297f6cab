import { describe, expect, it } from "vitest";
import {
  FaultSchedule,
  type FaultScheduleOptions,
  matchesPattern,
  toPlainPattern,
} from "./fault-schedule.ts";
import { assert, pre, property, string } from "fast-check";

/** The numbers of the calls that the fault hits. */
function hits(options: FaultScheduleOptions, calls = 10): number[] {
  const schedule = new FaultSchedule(options);
  return Array.from({ length: calls }, () => schedule.countCall()).filter((hit) => hit !== null);
}

describe("FaultSchedule", () => {
  it.each([
    [{ first: 1, times: Infinity }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [{ first: 8, times: Infinity }, [8, 9, 10]],
    [{ first: 3, times: 2 }, [3, 4]],
    [{ first: 1, times: 0 }, []],
  ])("hits, by %j, the calls %j", (options, expected) => {
    expect(hits(options)).toEqual(expected);
  });

  it("hits the same calls for the same seed, at about the given probability", () => {
    const options = { first: 1, times: Infinity, probability: 0.3, seed: 42 };
    expect(hits(options, 20)).toEqual(hits(options, 20));
    expect(hits(options, 1000).length).toBeGreaterThan(240);
    expect(hits(options, 1000).length).toBeLessThan(360);
    expect(hits({ ...options, seed: 43 }, 1000)).not.toEqual(hits(options, 1000));
    expect(hits({ ...options, probability: 0 }, 1000)).toEqual([]);
  });

  it("hits, from the first call on, the calls that it hits without a first", () => {
    const options = { first: 1, times: Infinity, probability: 0.5 };
    const later = hits(options, 50).filter((count) => count >= 20);
    expect(hits({ ...options, first: 20 }, 50)).toEqual(later);
  });
});

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
