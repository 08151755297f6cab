import * as fc from "fast-check";
import { expect, it } from "vitest";
import { StoreError } from "./errors.ts";
import { compareKeys, prefixEnd, utf8Length, validateKey, validateBucketName } from "./key.ts";

/** Characters around each length boundary of UTF-8 and UTF-16. */
const characters =
  "\0 a / \x7f \x80 \xe9 \u07ff \u0800 \ud7ff \ue000 \uff5e \uffff " +
  "\u{10000} \u{1f600} \u{10fffe} \u{10ffff}";
const character = fc.constantFrom(...characters.split(" "));
const wellFormed = fc.oneof(fc.string({ unit: character, maxLength: 6 }), fc.string());
const anyUnits = fc
  .array(fc.oneof(fc.integer({ min: 0xd7f0, max: 0xe00f }), fc.integer({ min: 0, max: 0xffff })))
  .map((units) => String.fromCharCode(...units));

/** UTF-8 with one character for each byte: an oracle that shares no code with the source. */
function utf8(text: string): string {
  return encodeURIComponent(text).replace(/%(..)/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

it.each([
  ["one byte", "a"],
  ["1024 bytes", "a".repeat(1024)],
  ["1024 bytes in 512 characters", "\xe9".repeat(512)],
  ["1024 bytes in 256 pairs of surrogates", "\u{1f600}".repeat(256)],
  ["a space, a slash and a NUL", " /\0"],
])("validateKey() takes a key of %s", (_, key) => {
  expect(() => validateKey(key)).not.toThrow();
});

it.each([
  ["no character", ""],
  ["1025 bytes", "a".repeat(1025)],
  ["1025 bytes in 1024 characters", `${"a".repeat(1023)}\xe9`],
  ["1025 bytes in 513 characters", `${"\xe9".repeat(512)}a`],
])("validateKey() refuses a key of %s", (_, key) => {
  expect(() => validateKey(key)).toThrow(new StoreError(10020));
});

it("utf8Length() is the length of the UTF-8 form, U+FFFD standing for lone surrogates", () => {
  fc.assert(
    fc.property(fc.oneof(wellFormed, anyUnits), (text) => {
      expect(utf8Length(text)).toBe(utf8(text.toWellFormed()).length);
    }),
  );
});

it("compareKeys() agrees with the order of the UTF-8 bytes", () => {
  fc.assert(
    fc.property(wellFormed, wellFormed, fc.string({ unit: character }), (left, right, common) => {
      const [a, b] = [common + left, common + right];
      const [x, y] = [utf8(a), utf8(b)];
      expect(Math.sign(compareKeys(a, b))).toBe(x === y ? 0 : x < y ? -1 : 1);
      expect(compareKeys(a, a)).toBe(0);
    }),
    { numRuns: 1000 },
  );
});

it.each([
  ["a\u{10ffff}", "b"],
  ["", null],
  ["\u{10ffff}\u{10ffff}", null],
])("prefixEnd() of %j is %j", (prefix, end) => {
  expect(prefixEnd(prefix)).toBe(end);
});

it("prefixEnd() and its prefix enclose exactly the keys with that prefix", () => {
  const prefix = fc.string({ unit: character, maxLength: 3 });
  fc.assert(
    fc.property(prefix, wellFormed, wellFormed, (start, rest, other) => {
      const end = prefixEnd(start);
      for (const key of [start + rest, other, ...(end === null ? [] : [end, end + rest])]) {
        const enclosed =
          compareKeys(start, key) <= 0 && (end === null || compareKeys(key, end) < 0);
        expect(enclosed).toBe(key.startsWith(start));
      }
      expect(end ?? "").toBe((end ?? "").toWellFormed());
    }),
    { numRuns: 1000 },
  );
});

it.each(["abc", "my-bucket", "0-0", "a".repeat(63), "a--b"])(
  "validateBucketName() takes %s",
  (name) => {
    expect(() => validateBucketName(name)).not.toThrow();
  },
);

it.each([
  "",
  "ab",
  "a".repeat(64),
  "-ab",
  "ab-",
  "Abc",
  "a.b.c",
  "a_b",
  "a/b",
  "..",
  "buckét",
  "abc\n",
])("validateBucketName() refuses %j", (name) => {
  expect(() => validateBucketName(name)).toThrow(new StoreError(10005));
});
