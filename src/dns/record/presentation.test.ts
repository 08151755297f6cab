import { expect, test } from "vitest";
import { formatData, typeCode, typeName } from "./presentation.ts";

test("typeName() and typeCode() cover the API's types, question types and numbers", () => {
  for (const [name, code] of [
    ["A", 1],
    ["HTTPS", 65],
    ["AXFR", 252],
    ["TYPE65280", 65_280],
  ] as const) {
    expect([typeName(code), typeCode(name.toLowerCase())]).toEqual([name, code]);
  }
  expect(["TYPE65536", "TYPE01", "TYPE", "toString", ""].map(typeCode)).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});

test("formatData() writes unknown and malformed data in the form of RFC 3597", () => {
  expect(formatData(1, Uint8Array.of(192, 0, 2, 1))).toBe("192.0.2.1");
  expect(formatData(13, Uint8Array.of(7, ...Buffer.from("RFC8482"), 0))).toBe('"RFC8482" ""');
  expect(formatData(65_280, Uint8Array.of(1, 0xab))).toBe("\\# 2 01ab");
  expect(formatData(65_280, new Uint8Array())).toBe("\\# 0");
  // The data of an A record has four octets.
  expect(formatData(1, Uint8Array.of(1, 2, 3))).toBe("\\# 3 010203");
});
