import * as fc from "fast-check";
import { expect, it } from "vitest";
import { decodeHex, encodeHex } from "./hex.ts";

it("encodeHex() writes two lower-case digits for each byte", () => {
  expect(encodeHex(new Uint8Array([0, 9, 10, 127, 128, 255]))).toBe("00090a7f80ff");
  expect(encodeHex(new Uint8Array())).toBe("");
});

it("decodeHex() reads what encodeHex() writes, in either case", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64, size: "max" }), (bytes) => {
      expect(decodeHex(encodeHex(bytes))).toStrictEqual(bytes);
      expect(decodeHex(encodeHex(bytes).toUpperCase())).toStrictEqual(bytes);
    }),
  );
});

it.each(["0", "0g", "0x", " 0", "0\n"])("decodeHex() rejects %j", (text) => {
  expect(decodeHex(text)).toBeNull();
});
