import * as fc from "fast-check";
import { expect, it } from "vitest";
import { base64ToHex, decodeHex, encodeHex, hexToBase64 } from "./hex.ts";

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

it("base64ToHex() reads what hexToBase64() writes, of the given length", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const text = hexToBase64(encodeHex(bytes));
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(base64ToHex(text, bytes.length)).toBe(encodeHex(bytes));
      expect(base64ToHex(text, bytes.length + 1)).toBeNull();
    }),
  );
});

it.each(["NhCm", "NhCmhg=", "NhCmhg", "NhCm hg==", "NhCmhg_="])(
  "base64ToHex() rejects %j as four bytes",
  (text) => {
    expect(base64ToHex(text, 4)).toBeNull();
  },
);
