import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText, hexLines, indentJson } from "./content-text.ts";

const encoder = new TextEncoder();

describe("decodeText()", () => {
  it("replaces bytes that are not valid, and says so", () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0x62);
    expect(decodeText(bytes, true)).toEqual({ text: "a\uFFFDb", isValid: false });
    expect(decodeText(encoder.encode("\uFEFFä"), true)).toEqual({ text: "\uFEFFä", isValid: true });
  });

  it("leaves out a character that is cut, unless the content ends there", () => {
    const cut = encoder.encode("a€").subarray(0, 3);
    expect(decodeText(cut, false)).toEqual({ text: "a", isValid: true });
    expect(decodeText(cut, true)).toEqual({ text: "a\uFFFD", isValid: false });
  });
});

describe("indentJson()", () => {
  it("adds lines, and keeps numbers and texts as they are written", () => {
    const source = '{"big":12345678901234567890, "a":[1.0,{}, []],"t":"x,\\"{ :"}';
    expect(indentJson(source)).toBe(
      '{\n  "big": 12345678901234567890,\n  "a": [\n    1.0,\n    {},\n    []\n  ],\n  "t": "x,\\"{ :"\n}',
    );
  });

  it("is what JSON.stringify() does, for any value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });
});

describe("hexLines()", () => {
  it("has 16 bytes a line, with the offset and the printable characters", () => {
    const bytes = encoder.encode("0123456789abcdefX\n");
    expect(hexLines(bytes)).toEqual([
      "00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef",
      "00000010  58 0a                                             X.",
    ]);
    expect(hexLines(new Uint8Array())).toEqual([]);
  });
});
