import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { composeStrings, joinStrings, parseStrings } from "./fields.ts";

function canonical(content: string): string | null {
  const strings = parseStrings(content);
  return strings === null ? null : composeStrings(strings);
}

const unbalanced = String.raw`"open close" "a"b" "a""b" a"b "a\" "\999" " """`.split(" ");

describe("parseStrings()", () => {
  test.each([
    ["plain text", '"plain text"'],
    ['"quoted"', '"quoted"'],
    ['  "a"   "b" ', '"a" "b"'],
    ['""', '""'],
    ["a\\b", '"a\\\\b"'],
    ['"a\\"b"', '"a\\"b"'],
    ['"\\097\\098"', '"ab"'],
    ['"\\255"', '"\\255"'],
    ["tab\there", '"tab\\009here"'],
    ["grüße", '"grüße"'],
    ["x".repeat(256), `"${"x".repeat(255)}" "x"`],
    [`"${"x".repeat(300)}"`, `"${"x".repeat(255)}" "${"x".repeat(45)}"`],
    [`${"x".repeat(254)}ü`, `"${"x".repeat(254)}" "ü"`],
  ])("%j", (content, expected) => expect(canonical(content)).toBe(expected));

  test.each(['a "b"', '"a" b', ...unbalanced])("refuses %j", (content) =>
    expect(canonical(content)).toBeNull(),
  );
});

test("composeStrings() keeps every octet and splits no character", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 255 }), { minLength: 1, maxLength: 4 }),
      (strings) => {
        expect(parseStrings(composeStrings(strings))).toEqual(strings);
      },
    ),
  );
  fc.assert(
    fc.property(
      fc
        .string({ unit: "grapheme", minLength: 1, maxLength: 700 })
        .filter((text) => !text.includes('"')),
      (text) => {
        const strings = parseStrings(text)!;
        expect(strings.every(({ length }) => length <= 255)).toBe(true);
        expect(joinStrings(strings)).toBe(text);
      },
    ),
  );
});
