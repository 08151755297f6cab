import * as fc from "fast-check";
import { expect, it } from "vitest";
import { decodeCursor, encodeCursor, type Position } from "./cursor.ts";
import { StoreError } from "./errors.ts";

const refusal = new StoreError(
  10001,
  "The cursor is not valid: pass the cursor of the previous page as it is.",
);

const position: fc.Arbitrary<Position> = fc.record(
  {
    kind: fc.constantFrom("key" as const, "prefix" as const),
    text: fc.oneof(fc.string({ unit: "binary" }), fc.string()),
  },
  { noNullPrototype: true },
);

it.each<Position>([
  { kind: "key", text: "photos/2024/cat.jpg" },
  { kind: "prefix", text: "photos/" },
  { kind: "key", text: "" },
  { kind: "key", text: "100%25 +/=&\0\n" },
  { kind: "prefix", text: "\x7f\x80\xe9\uffff\u{1f600}\u{10ffff}" },
  { kind: "key", text: "a".repeat(1024) },
])("decodeCursor() reverses encodeCursor(): %o", (given) => {
  expect(decodeCursor(encodeCursor(given))).toStrictEqual(given);
});

it("decodeCursor() reverses encodeCursor() for every position", () => {
  fc.assert(
    fc.property(position, (given) => {
      expect(decodeCursor(encodeCursor(given))).toStrictEqual(given);
    }),
    { numRuns: 500 },
  );
});

it("encodeCursor() makes text that needs no escaping in a URL", () => {
  fc.assert(
    fc.property(position, (given) => {
      expect(encodeCursor(given)).toMatch(/^[A-Za-z0-9_-]+$/);
    }),
  );
});

it("encodeCursor() makes different cursors of a key and a prefix with the same text", () => {
  expect(encodeCursor({ kind: "key", text: "a" })).not.toBe(
    encodeCursor({ kind: "prefix", text: "a" }),
  );
});

it.each([
  ["nothing", ""],
  ["a key", "photos/2024/cat.jpg"],
  ["a key that is base64", "cGhvdG9z"],
  ["only a checksum of zeros", "AAAAAA"],
  ["fewer bytes than a checksum has", "AA"],
  ["a length that base64 never has", "AAAAA"],
  ["bytes that are not UTF-8", "AAAAAP___w"],
  ["padding", `${encodeCursor({ kind: "key", text: "a" })}=`],
  ["ordinary base64", encodeCursor({ kind: "key", text: "?>?>" }).replaceAll(/[-_]/g, "+")],
  ["white space around it", ` ${encodeCursor({ kind: "key", text: "a" })}`],
  ["a line break after it", `${encodeCursor({ kind: "key", text: "a" })}\n`],
])("decodeCursor() refuses %s", (_, cursor) => {
  expect(() => decodeCursor(cursor)).toThrow(refusal);
});

it("decodeCursor() refuses all other text with a StoreError", () => {
  const base64url = fc.base64String().map((text) => text.replaceAll("=", ""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string(), base64url), (text) => {
      expect(() => decodeCursor(text)).toThrow(refusal);
    }),
    { numRuns: 1000 },
  );
});

it("decodeCursor() refuses a cursor that was cut short", () => {
  fc.assert(
    fc.property(position, fc.nat(), (given, seed) => {
      const cursor = encodeCursor(given);
      expect(() => decodeCursor(cursor.slice(0, seed % cursor.length))).toThrow(refusal);
    }),
  );
});

it("decodeCursor() never takes a damaged cursor for another position", () => {
  const character = fc.constantFrom("A", "g", "8", "-", "_");
  fc.assert(
    fc.property(position, fc.nat(), character, (given, seed, wrong) => {
      const cursor = encodeCursor(given);
      const index = seed % cursor.length;
      const damaged = cursor.slice(0, index) + wrong + cursor.slice(index + 1);
      // The last character may hold unused bits.
      expect([given, refusal]).toContainEqual(decodeOrError(damaged));
    }),
    { numRuns: 500 },
  );
});

function decodeOrError(cursor: string): unknown {
  try {
    return decodeCursor(cursor);
  } catch (error) {
    return error;
  }
}
