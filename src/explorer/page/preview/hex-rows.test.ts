import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hexPageBytes, hexPageStart, hexRows, offsetText, parseOffset } from "./hex-rows.ts";

describe("hexRows()", () => {
  it("shows offset, bytes and text, and a last row that is shorter", () => {
    const bytes = new TextEncoder().encode("0123456789abcdef<é>");
    expect(hexRows(bytes, hexPageBytes)).toEqual([
      {
        offset: "00001000",
        bytes: "30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66",
        text: "0123456789abcdef",
      },
      { offset: "00001010", bytes: "3c c3 a9 3e", text: "<..>" },
    ]);
  });

  it("has every byte once, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const rows = hexRows(bytes, 0);
        const read = rows.flatMap((row) => row.bytes.split(/ +/)).map((pair) => parseInt(pair, 16));
        expect(read).toEqual(Array.from(bytes));
        expect(rows.map((row) => row.text).join("")).toHaveLength(bytes.length);
      }),
    );
  });
});

describe("offsetText()", () => {
  it("has more than eight digits from 4 GiB on", () => {
    expect(offsetText(255)).toBe("000000ff");
    expect(offsetText(5 * 2 ** 40)).toBe("50000000000");
  });
});

describe("hexPageStart()", () => {
  it("is a multiple of the page, for an offset above 4 GiB too", () => {
    expect(hexPageStart(4095)).toBe(0);
    expect(hexPageStart(2 ** 32 + 4097)).toBe(2 ** 32 + 4096);
  });
});

describe("parseOffset()", () => {
  it("reads decimal and hexadecimal offsets inside the object", () => {
    expect(parseOffset(" 4,096 ", 5000)).toBe(4096);
    expect(parseOffset("0x10", 17)).toBe(16);
    expect(parseOffset("0x10", 16)).toBeNull();
    for (const text of ["", "-1", "1.5", "ff", "0x", "1e3"]) {
      expect(parseOffset(text, 5000)).toBeNull();
    }
  });
});
