import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  conditionHolds,
  parseEtag,
  parseEtagHeader,
  type Conditional,
  type EtagPattern,
} from "./conditional.ts";

const any: EtagPattern = { kind: "any" };
const strong = (value: string): EtagPattern => ({ kind: "strong", value });
const weak = (value: string): EtagPattern => ({ kind: "weak", value });

describe("conditionHolds() for an object tagged a, uploaded at 5500 ms,", () => {
  const object = { etag: "a", uploaded: 5500 };

  it.each<[string, Conditional, boolean]>([
    ["no condition is given", {}, true],

    ["If-Match has its tag", { etagMatches: [strong("a")] }, true],
    ["If-Match has its tag among others", { etagMatches: [strong("b"), strong("a")] }, true],
    ["If-Match has another tag", { etagMatches: [strong("b")] }, false],
    ["If-Match has its tag as a weak tag", { etagMatches: [weak("a")] }, false],
    ["If-Match is a wildcard", { etagMatches: [any] }, true],
    ["If-Match has no tags", { etagMatches: [] }, false],

    ["If-None-Match has its tag", { etagDoesNotMatch: [strong("a")] }, false],
    ["If-None-Match has its tag as a weak tag", { etagDoesNotMatch: [weak("a")] }, false],
    ["If-None-Match has its tag among others", { etagDoesNotMatch: [weak("b"), weak("a")] }, false],
    ["If-None-Match has another tag", { etagDoesNotMatch: [strong("b")] }, true],
    ["If-None-Match is a wildcard", { etagDoesNotMatch: [any] }, false],

    ["modified since just before", { uploadedAfter: 5499 }, true],
    ["modified since that very time", { uploadedAfter: 5500 }, false],
    ["modified since later", { uploadedAfter: 5501 }, false],
    ["unmodified since just before", { uploadedBefore: 5499 }, false],
    ["unmodified since that very time", { uploadedBefore: 5500 }, false],
    ["unmodified since just after", { uploadedBefore: 5501 }, true],

    ["modified since that second", { uploadedAfter: 5000, secondsGranularity: true }, false],
    ["modified since the second before", { uploadedAfter: 4999, secondsGranularity: true }, true],
    ["unmodified since that second", { uploadedBefore: 5999, secondsGranularity: true }, false],
    ["unmodified since the next second", { uploadedBefore: 6000, secondsGranularity: true }, true],

    ["both dates enclose it", { uploadedAfter: 5499, uploadedBefore: 5501 }, true],
    ["only the earlier date holds", { uploadedAfter: 5499, uploadedBefore: 5500 }, false],
    ["only the later date holds", { uploadedAfter: 5500, uploadedBefore: 5501 }, false],
    [
      "only If-Match holds of both tags",
      { etagMatches: [strong("a")], etagDoesNotMatch: [strong("a")] },
      false,
    ],
    [
      "only If-None-Match holds of both tags",
      { etagMatches: [strong("b")], etagDoesNotMatch: [strong("b")] },
      false,
    ],
    ["both tags hold", { etagMatches: [strong("a")], etagDoesNotMatch: [strong("b")] }, true],

    [
      "If-Match holds and If-Unmodified-Since does not",
      { etagMatches: [strong("a")], uploadedBefore: 1 },
      true,
    ],
    [
      "If-None-Match holds and If-Modified-Since does not",
      { etagDoesNotMatch: [strong("b")], uploadedAfter: 9999 },
      true,
    ],
    [
      "If-Match fails and If-Unmodified-Since holds",
      { etagMatches: [strong("b")], uploadedBefore: 9999 },
      false,
    ],
    [
      "If-None-Match fails and If-Modified-Since holds",
      { etagDoesNotMatch: [strong("a")], uploadedAfter: 1 },
      false,
    ],
    [
      "If-Match holds and If-Modified-Since does not",
      { etagMatches: [strong("a")], uploadedAfter: 9999 },
      false,
    ],
    [
      "If-None-Match holds and If-Unmodified-Since does not",
      { etagDoesNotMatch: [strong("b")], uploadedBefore: 1 },
      false,
    ],
  ])("when %s", (_, condition, holds) => {
    expect(conditionHolds(condition, object)).toBe(holds);
  });
});

it.each<[string, Conditional, boolean]>([
  ["holds without a condition", {}, true],
  ["fails with etagMatches", { etagMatches: [any] }, false],
  ["fails with uploadedAfter", { uploadedAfter: 0 }, false],
  ["holds with etagDoesNotMatch", { etagDoesNotMatch: [any] }, true],
  ["holds with uploadedBefore", { uploadedBefore: 0 }, true],
  ["fails with both tags", { etagMatches: [any], etagDoesNotMatch: [any] }, false],
])("conditionHolds() for an absent object %s", (_, condition, holds) => {
  expect(conditionHolds(condition, null)).toBe(holds);
});

it.each([
  ["abc", strong("abc")],
  ["", strong("")],
  ['"', strong('"')],
  ["*", any],
  ["**", strong("**")],
  ['"abc', strong('"abc')],
  ['abc"', strong('abc"')],
  ['W/"abc"', strong('W/"abc"')],
])("parseEtag() takes %j", (etag, pattern) => {
  expect(parseEtag(etag)).toStrictEqual(pattern);
});

it.each(['"abc"', '""', '"*"'])("parseEtag() refuses %j, which is quoted", (etag) => {
  expect(() => parseEtag(etag)).toThrow(
    new TypeError(`Conditional ETag should not be wrapped in quotes (${etag}).`),
  );
});

describe("parseEtagHeader()", () => {
  it.each([
    ['"a"', [strong("a")]],
    ['W/"a"', [weak("a")]],
    ["*", [any]],
    ['""', [strong("")]],
    ['"*"', [strong("*")]],
    ['"a,b"', [strong("a,b")]],
    ['"W/x"', [strong("W/x")]],
    ['"a", W/"b","c"', [strong("a"), weak("b"), strong("c")]],
    [' \t"a" \t, \t"b" ', [strong("a"), strong("b")]],
    [',,"a",, "b",', [strong("a"), strong("b")]],
    ['"a", *', [any]],
    ['*, "a"', [any]],
  ])("takes %j", (header, patterns) => {
    expect(parseEtagHeader("if-match", header)).toStrictEqual(patterns);
  });

  const expected = "Comma was expected to separate etags.";
  it.each([
    ['"a" *', `${expected} Encountered a wildcard character '*' instead.`],
    [
      '"a"W/"b"',
      `${expected} Encountered a weak quotation character 'W' instead. ` +
        "This would otherwise indicate the start of a new weak etag.",
    ],
    [
      'W/"a" "b"',
      `${expected} Encountered a double quote character '"' instead. ` +
        "This would otherwise indicate the start of a new strong etag.",
    ],
    ['W"a"', "Weak etags must start with W/ and their value must be quoted"],
    ["W/a", "Weak etags must start with W/ and their value must be quoted"],
    ['"a', "Unclosed double quote for Etag"],
    ['"a", "', "Unclosed double quote for Etag"],
    ['W/"a', "Unclosed double quote for Etag"],
    ["", "Invalid ETag in if-none-match header"],
    [" , ,", "Invalid ETag in if-none-match header"],
    ["abc", "Invalid ETag in if-none-match header"],
  ])("refuses %j", (header, message) => {
    expect(() => parseEtagHeader("if-none-match", header)).toThrow(new Error(message));
  });

  it("names the header that is not valid", () => {
    expect(() => parseEtagHeader("if-match", "")).toThrow(
      new Error("Invalid ETag in if-match header"),
    );
  });

  it("takes every list of quoted tags, with any text in them and any separators", () => {
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom("*", "W", "/", ",", " ", "\t", "a") }),
    );
    const tag = fc.record(
      {
        kind: fc.constantFrom("strong" as const, "weak" as const),
        value: value.map((text) => text.replaceAll('"', "")),
      },
      { noNullPrototype: true },
    );
    const separator = fc.constantFrom(",", ", ", " ,", "\t,\t", ",,", " , ,");
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1 }), separator, (tags, between) => {
        const header = tags.map(
          ({ kind, value: text }) => `${kind === "weak" ? "W/" : ""}"${text}"`,
        );
        expect(parseEtagHeader("if-match", header.join(between))).toStrictEqual(tags);
      }),
    );
  });
});
