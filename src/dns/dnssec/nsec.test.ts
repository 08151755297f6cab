import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameArbitrary } from "../../../test/dns/support/name-arbitrary.ts";
import { encodeName, formatName, nameWireBytesMax, isAtOrBelow, nameKey } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/octets.ts";
import { canonicalName, compareOctets } from "./signature.ts";
import { nextName, nextSibling, nsecSet, decodeTypeBitmap, encodeTypeBitmap } from "./nsec.ts";

function readNsec(data: Uint8Array) {
  const reader = new Reader(data);
  return { next: formatName(reader.nameOctets()), types: decodeTypeBitmap(reader.rest()) };
}

describe("nsecSet()", () => {
  const { A, MX, NS, NSEC, NXNAME, RRSIG } = typeCodes;

  it("denies a name with NXNAME", () => {
    const { data, ttlSeconds } = nsecSet(encodeName("Gone.example"), null, { ttlSeconds: 1800 });
    expect(readNsec(data[0]!)).toEqual({
      next: "\\000.gone.example",
      types: [RRSIG, NSEC, NXNAME],
    });
    expect(ttlSeconds).toBe(1800);
  });

  it("denies a type with the other types of the name", () => {
    const { data } = nsecSet(encodeName("www.example"), [MX, A], { ttlSeconds: 1800 });
    expect(readNsec(data[0]!).types).toEqual([A, MX, RRSIG, NSEC]);
  });

  it("skips the names below an unsigned delegation", () => {
    const options = { ttlSeconds: 1800, isDelegation: true };
    const { data } = nsecSet(encodeName("child.example"), [NS], options);
    expect(readNsec(data[0]!)).toEqual({ next: "child\\000.example", types: [NS, RRSIG, NSEC] });
  });
});

const full = (last: string) => encodeName(`${"a".repeat(62)}${last}.example`);

describe("nextName() and nextSibling()", () => {
  it("give a later name of valid length, except after the last name", () => {
    fc.assert(
      fc.property(nameArbitrary, (name) => {
        for (const next of [nextName(name), nextSibling(name)]) {
          expect(next.length).toBeLessThanOrEqual(nameWireBytesMax);
          // After the last name comes the apex, here the root.
          expect(next.length === 1 || compareNames(name, next) < 0).toBe(true);
        }
        const sibling = nextSibling(name);
        expect(isAtOrBelow(nameKey(sibling), nameKey(name))).toBe(name.length === 1);
      }),
    );
  });

  it("have no name between a name and the next", () => {
    fc.assert(
      fc.property(nameArbitrary, nameArbitrary, (name, other) => {
        const next = nextName(name);
        if (next.length === 1 || compareNames(name, other) >= 0) return;
        expect(compareNames(next, other)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  it("follow a first label of 63 octets", () => {
    expect(nextSibling(full("a"))).toEqual(full("b"));
    expect(nextSibling(full("@"))).toEqual(full("["));
    expect(formatName(nextSibling(full("\\255")))).toBe(`${"a".repeat(61)}b.example`);
  });
});

describe("type bitmaps", () => {
  it("are written as in the example of RFC 4034 section 4.3", () => {
    const { A, MX, NSEC, RRSIG } = typeCodes;
    const bytes = encodeTypeBitmap([1234, NSEC, A, RRSIG, MX]);
    const second = [4, 27, ...new Uint8Array(26), 0x20];
    expect([...bytes]).toEqual([0, 6, 0x40, 1, 0, 0, 0, 3, ...second]);
  });

  it("are read as they were written", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 65_535 })), (types) => {
        const ordered = types.toSorted((one, other) => one - other);
        expect(decodeTypeBitmap(encodeTypeBitmap(types))).toEqual(ordered);
      }),
    );
  });

  it.each([
    ["windows out of order", [1, 1, 1, 0, 1, 1]],
    ["an empty window", [0, 0]],
    ["a window of 33 octets", [0, 33, ...new Uint8Array(33).fill(1)]],
    ["a window past the end", [0, 2, 1]],
  ])("with %s are refused", (_, octets) => {
    expect(() => decodeTypeBitmap(Uint8Array.from(octets))).toThrow(
      expect.objectContaining({ name: "WireError" }),
    );
  });
});

/** The order of RFC 4034 section 6.1: label by label from the root, in lower case. */
function compareNames(one: Uint8Array, other: Uint8Array): number {
  const labelsOfOne = labelsFromRoot(one);
  const labelsOfOther = labelsFromRoot(other);
  for (const [index, label] of labelsOfOne.entries()) {
    const against = labelsOfOther[index];
    if (against === undefined) return 1;
    const order = compareOctets(label, against);
    if (order !== 0) return order;
  }
  return labelsOfOne.length - labelsOfOther.length;
}

function labelsFromRoot(name: Uint8Array): Uint8Array[] {
  const canonical = canonicalName(name);
  const labels: Uint8Array[] = [];
  for (let at = 0; canonical[at]! > 0; at += canonical[at]! + 1) {
    labels.unshift(canonical.subarray(at + 1, at + 1 + canonical[at]!));
  }
  return labels;
}
