/** The examples of RFC 4034 section 6, and properties of the order. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeName, formatName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { nameArbitrary } from "../../../test/dns/support/name-arbitrary.ts";
import { canonicalData, canonicalSet, compareNames, compareOctets } from "./signature.ts";

describe("compareNames()", () => {
  const ordered = [
    "example",
    "a.example",
    "yljkjljk.a.example",
    "Z.a.example",
    "zABC.a.EXAMPLE",
    "z.example",
    "\\001.z.example",
    "*.z.example",
    "\\200.z.example",
  ].map(encodeName);

  it("gives the order of RFC 4034 section 6.1", () => {
    expect(ordered.toReversed().toSorted(compareNames).map(formatName)).toEqual(
      ordered.map(formatName),
    );
  });

  it("ignores case and is antisymmetric", () => {
    fc.assert(
      fc.property(nameArbitrary, nameArbitrary, (one, other) => {
        expect(Math.sign(compareNames(one, other))).toBe(-Math.sign(compareNames(other, one)) + 0);
        const upper = encodeName(formatName(one).toUpperCase());
        expect(compareNames(one, upper)).toBe(0);
      }),
    );
  });
});

describe("canonicalData()", () => {
  it("lowers the names of MX, and no octets of other fields", () => {
    const data = Uint8Array.of(0x41, 0x42, ...encodeName("Mail.Example"));
    expect(canonicalData(typeCodes.MX, data)).toEqual(
      Uint8Array.of(0x41, 0x42, ...encodeName("mail.example")),
    );
  });

  it("lowers the replacement of NAPTR after its three strings", () => {
    const strings = [1, 0x55, 3, 0x53, 0x49, 0x50, 0];
    const data = Uint8Array.of(0, 1, 0, 2, ...strings, ...encodeName("SIP.Example"));
    expect(canonicalData(35, data)).toEqual(
      Uint8Array.of(0, 1, 0, 2, ...strings, ...encodeName("sip.example")),
    );
  });

  it("leaves the data of types without names unchanged", () => {
    const data = new TextEncoder().encode("\u0005Hello");
    expect(canonicalData(16, data)).toBe(data);
  });
});

describe("canonicalSet()", () => {
  it("sorts by octets and drops equal records", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 4 }), { maxLength: 8 }), (data) => {
        const set = canonicalSet(16, [...data, ...data]);
        for (let at = 1; at < set.length; at++) {
          expect(compareOctets(set[at - 1]!, set[at]!)).toBeLessThan(0);
        }
        const distinct = new Set(data.map((octets) => octets.join(" ")));
        expect(set.length).toBe(distinct.size);
      }),
    );
  });
});
