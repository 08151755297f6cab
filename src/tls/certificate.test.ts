/** Values of DER, against the octets of X.690 and of RFC 5280. */
import { describe, expect, it } from "vitest";
import {
  bitString,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  time,
} from "./certificate.ts";

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex");

describe("integer()", () => {
  it.each([
    [[0], "020100"],
    [[0, 0, 5], "020105"],
    [[0x7f], "02017f"],
    [[0x80], "02020080"],
    [[1, 0], "02020100"],
  ])("encodes %j without superfluous octets, and never as negative", (octets, expected) => {
    expect(hex(integer(Uint8Array.from(octets)))).toBe(expected);
  });
});

describe("objectIdentifier()", () => {
  it.each([
    ["2.5.29.17", "0603551d11"],
    ["1.2.840.10045.4.3.2", "06082a8648ce3d040302"],
    ["1.3.6.1.5.5.7.3.1", "06082b06010505070301"],
  ])("encodes %s", (dotted, expected) => {
    expect(hex(objectIdentifier(dotted))).toBe(expected);
  });
});

describe("time()", () => {
  it("has two digits for years until 2049, and four for later years", () => {
    const before = Buffer.from(time(new Date("2049-12-31T23:59:59.999Z")));
    expect([before[0], before.toString("latin1", 2)]).toEqual([0x17, "491231235959Z"]);
    const after = Buffer.from(time(new Date("2050-01-01T00:00:00Z")));
    expect([after[0], after.toString("latin1", 2)]).toEqual([0x18, "20500101000000Z"]);
  });
});

describe("the length of a value", () => {
  it.each([
    [127, "047f"],
    [128, "048180"],
    [256, "04820100"],
  ])("of %i octets has the shortest form", (length, expected) => {
    expect(hex(octetString(new Uint8Array(length)))).toMatch(new RegExp(`^${expected}(00)+$`));
  });
});

it("bitString() says how many bits are unused", () => {
  expect(hex(sequence(bitString(Uint8Array.of(0x80), 7)))).toBe("300403020780");
});
