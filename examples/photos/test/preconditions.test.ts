import { describe, expect, it } from "vitest";
import { checkPreconditions, isConditional, rangeApplies } from "../src/http/preconditions.ts";

const current = { httpEtag: '"abc"', uploaded: new Date("2026-03-01T12:00:00.700Z") };
const before = "Sun, 01 Mar 2026 11:59:59 GMT";
const then = "Sun, 01 Mar 2026 12:00:00 GMT";
const after = "Sun, 01 Mar 2026 12:00:01 GMT";

describe("checkPreconditions()", () => {
  it.each([
    [{}, "proceed", "proceed"],
    [{ "if-match": '"abc"' }, "proceed", "proceed"],
    [{ "if-match": '"x", "abc"' }, "proceed", "proceed"],
    [{ "if-match": "*" }, "proceed", "proceed"],
    [{ "if-match": '"x"' }, "failed", "failed"],
    // A weak tag never matches in a strong comparison.
    [{ "if-match": 'W/"abc"' }, "failed", "failed"],
    [{ "if-none-match": '"abc"' }, "not modified", "failed"],
    [{ "if-none-match": 'W/"abc"' }, "not modified", "failed"],
    [{ "if-none-match": "*" }, "not modified", "failed"],
    [{ "if-none-match": '"x"' }, "proceed", "proceed"],
    [{ "if-none-match": "abc" }, "proceed", "proceed"],
    [{ "if-modified-since": before }, "proceed", "proceed"],
    [{ "if-modified-since": then }, "not modified", "proceed"],
    [{ "if-modified-since": after }, "not modified", "proceed"],
    [{ "if-modified-since": "yesterday" }, "proceed", "proceed"],
    [{ "if-unmodified-since": before }, "failed", "failed"],
    [{ "if-unmodified-since": then }, "proceed", "proceed"],
    // Tags take precedence over dates.
    [{ "if-none-match": '"x"', "if-modified-since": after }, "proceed", "proceed"],
    [{ "if-match": '"abc"', "if-unmodified-since": before }, "proceed", "proceed"],
    [{ "if-match": '"x"', "if-none-match": '"abc"' }, "failed", "failed"],
  ])("evaluates %o", (headers, reading, writing) => {
    expect(checkPreconditions("GET", new Headers(headers), current)).toBe(reading);
    expect(checkPreconditions("HEAD", new Headers(headers), current)).toBe(reading);
    expect(checkPreconditions("PUT", new Headers(headers), current)).toBe(writing);
  });

  it("matches no tag and no date when there is no object", () => {
    const rows = [
      [{ "if-match": "*" }, "failed"],
      [{ "if-none-match": "*" }, "proceed"],
      [{ "if-unmodified-since": before }, "proceed"],
    ] as const;
    for (const [headers, verdict] of rows) {
      expect(checkPreconditions("PUT", new Headers(headers), null)).toBe(verdict);
    }
  });
});

describe("isConditional()", () => {
  it("is true for the conditional headers, and false for If-Range", () => {
    expect(isConditional(new Headers({ "if-none-match": "*" }))).toBe(true);
    expect(isConditional(new Headers({ "if-range": '"abc"' }))).toBe(false);
  });
});

describe("rangeApplies()", () => {
  it.each([
    ['"abc"', true],
    ['"x"', false],
    ['W/"abc"', false],
    [then, true],
    [before, false],
    [after, false],
  ])("evaluates If-Range: %s", (ifRange, applies) => {
    expect(rangeApplies(new Headers({ "if-range": ifRange }), current)).toBe(applies);
  });
});
