import { expect, test } from "vitest";
import { isCookieLength, isValidCookie, makeCookie } from "./cookie.ts";
import { decodeHex, encodeHex } from "../../base/hex.ts";
import { sipHash } from "./siphash.ts";

const octets = (hex: string) => decodeHex(hex)!;

// From the table of the reference implementation, with the octets 0, 1, 2, … as input.
test.each([
  [0, "310e0edd47db6f72"],
  [7, "37d1018bf50002ab"],
  [8, "6224939a79f5f593"],
  [15, "e545be4961ca29a1"],
  [63, "724506eb4c328a95"],
])("sipHash() of %d octets", (length, expected) => {
  const key = Uint8Array.from({ length: 16 }, (_, index) => index);
  const input = Uint8Array.from({ length }, (_, index) => index);
  expect(encodeHex(sipHash(key, input))).toBe(expected);
});

const secret = octets("e5e973e5a6b2a43f48e7dc849e37bfcf");
const address = Uint8Array.of(198, 51, 100, 100);

test("makeCookie() returns the cookie of RFC 9018 appendix A.1", () => {
  const cookie = makeCookie(octets("2464c4abcf10c957"), {
    address,
    secret,
    nowSeconds: 1_559_731_985,
  });
  expect(encodeHex(cookie)).toBe("2464c4abcf10c957010000005cf79f111f8130c3eee29480");
});

test("makeCookie() returns different cookies for different clients", () => {
  const made = (from: Uint8Array) =>
    encodeHex(makeCookie(octets("2464c4abcf10c957"), { address: from, secret, nowSeconds: 1 }));
  expect(made(octets("20010db8000000000000000000000001"))).not.toBe(made(address));
});

test("isValidCookie() accepts a cookie for an hour, from the same client, with the same secret", () => {
  const nowSeconds = 1_559_731_985;
  const context = { address, secret, nowSeconds };
  const cookie = makeCookie(octets("2464c4abcf10c957"), context);
  const valid = (changes: object) => isValidCookie(cookie, { ...context, ...changes });
  expect(valid({})).toBe(true);
  expect(valid({ nowSeconds: nowSeconds + 3600 })).toBe(true);
  expect(valid({ nowSeconds: nowSeconds + 3601 })).toBe(false);
  expect(valid({ nowSeconds: nowSeconds - 300 })).toBe(true);
  expect(valid({ nowSeconds: nowSeconds - 301 })).toBe(false);
  expect(valid({ address: Uint8Array.of(198, 51, 100, 101) })).toBe(false);
  expect(valid({ secret: new Uint8Array(16) })).toBe(false);
  for (let at = 0; at < cookie.length; at++) {
    const forged = cookie.slice();
    forged[at]! ^= 0x80;
    expect(isValidCookie(forged, context)).toBe(false);
  }
  expect(isValidCookie(cookie.slice(0, 8), context)).toBe(false);
});

test("isCookieLength() is true for the lengths of RFC 7873", () => {
  const good = Array.from({ length: 60 }, (_, length) => length).filter(isCookieLength);
  expect(good).toEqual([8, ...Array.from({ length: 25 }, (_, index) => 16 + index)]);
});
