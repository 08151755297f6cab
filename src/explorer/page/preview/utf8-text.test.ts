import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeUtf8 } from "./utf8-text.ts";

const encoder = new TextEncoder();
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe("decodeUtf8()", () => {
  it("counts the bytes that are not valid", () => {
    const cases: [Uint8Array, number][] = [
      [bytes(0x61, 0xff, 0x62), 1],
      [bytes(0xc0, 0x80), 2],
      [bytes(0xed, 0xa0, 0x80), 3],
      [bytes(0xe2, 0x82, 0x41), 2],
      [bytes(0xf5, 0x41), 1],
      [bytes(0xf0, 0x9f, 0x98, 0x80), 0],
    ];
    for (const [input, invalidBytes] of cases) {
      expect(decodeUtf8(input, { isWhole: true })).toMatchObject({ invalidBytes });
    }
    expect(decodeUtf8(bytes(0x61, 0xff, 0x62), { isWhole: true }).text).toBe("a\uFFFDb");
  });

  it("leaves a character that is cut for the next part", () => {
    const euro = encoder.encode("a€");
    expect(decodeUtf8(euro.subarray(0, 3), { isWhole: false })).toEqual({
      text: "a",
      invalidBytes: 0,
      decodedBytes: 1,
    });
    expect(decodeUtf8(euro.subarray(0, 3), { isWhole: true })).toEqual({
      text: "a\uFFFD",
      invalidBytes: 2,
      decodedBytes: 3,
    });
  });

  it("decodes any text in two parts as it decodes the whole", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(), (text, at) => {
        const whole = encoder.encode(text);
        const first = decodeUtf8(whole.subarray(0, at % (whole.length + 1)), { isWhole: false });
        const rest = decodeUtf8(whole.subarray(first.decodedBytes), { isWhole: true });
        expect(first.invalidBytes + rest.invalidBytes).toBe(0);
        expect(first.text + rest.text).toBe(text.toWellFormed());
      }),
    );
  });

  it("counts every byte that the text does not stand for, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (input) => {
        // A replacement character of the input itself is valid.
        fc.pre(!Buffer.from(input).includes("\uFFFD"));
        const { text, invalidBytes, decodedBytes } = decodeUtf8(input, { isWhole: true });
        const valid = encoder.encode(text.replaceAll("\uFFFD", "")).length;
        expect(decodedBytes).toBe(input.length);
        expect(invalidBytes).toBe(input.length - valid);
      }),
    );
  });
});
