import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checksumOfBytes, isSameChecksum, storedChecksum, TextChecksums } from "./row-checksum.ts";

/** `TextEncoder` is not part of the language, for which this folder is checked. */
const encoder = new (globalThis as unknown as { TextEncoder: new () => Encoder }).TextEncoder();
interface Encoder {
  encode(text: string): Uint8Array;
  encodeInto(text: string, bytes: Uint8Array): { written: number };
}
const texts = new TextChecksums(encoder);

describe("checksumOfBytes()", () => {
  it("has a fixed value, because databases store it", () => {
    expect(checksumOfBytes(new Uint8Array(0))).toBe(4_292_948_823);
    expect(checksumOfBytes(Uint8Array.from({ length: 31 }, (_, index) => index))).toBe(1974613479);
  });

  it("changes with every single bit", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        const before = checksumOfBytes(bytes);
        for (let bit = 0; bit < bytes.length * 8; bit++) {
          bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
          const after = checksumOfBytes(bytes);
          bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
          expect(after).not.toBe(before);
        }
      }),
    );
  });

  it("changes with any two bits", () => {
    const bytes = new Uint8Array(24);
    const seen = new Set<number>();
    const flip = (bit: number) =>
      (bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7)));
    for (let one = 0; one < 192; one++) {
      for (let other = one + 1; other < 192; other++) {
        flip(one);
        flip(other);
        seen.add(checksumOfBytes(bytes));
        flip(one);
        flip(other);
      }
    }
    expect(seen.has(checksumOfBytes(bytes))).toBe(false);
  });

  it("changes with the length, and with the order of the words", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const longer = new Uint8Array(bytes.length + 1);
        longer.set(bytes);
        return checksumOfBytes(longer) !== checksumOfBytes(bytes);
      }),
    );
    const [one, other] = [Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0), Uint8Array.of(2, 0, 0, 0, 1)];
    expect(checksumOfBytes(one)).not.toBe(checksumOfBytes(other));
  });

  it("does not depend on the position of the bytes in their buffer", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.integer({ min: 0, max: 9 }), (bytes, offset) => {
        const buffer = new Uint8Array(bytes.length + offset);
        buffer.set(bytes, offset);
        expect(checksumOfBytes(buffer.subarray(offset))).toBe(checksumOfBytes(bytes));
      }),
    );
  });
});

describe("TextChecksums", () => {
  it("of() is the checksum of the UTF-8 form", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (text) => {
        return texts.of(text) === checksumOfBytes(encoder.encode(text));
      }),
    );
    const long = "é".repeat(100_000);
    expect(texts.of(long)).toBe(checksumOfBytes(encoder.encode(long)));
  });

  const row = fc.string({ unit: "grapheme", minLength: 1 }).map((text) => JSON.stringify(text));

  it("sumPieces() sums the rows of a page", () => {
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const page = rows.map((text) => `[${text}\n,null]`).join(",");
        const sum = rows.reduce((total, text) => total + texts.of(text), 0);
        expect(texts.sumPieces(page, [",null],[".length + 1])).toBe(sum);
      }),
    );
  });

  it("sumPieces() sums rows with metadata, and leaves out null and rows without a checksum", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(row, fc.option(row), fc.boolean())), (rows) => {
        const page = rows.map(([text, metadata, isSealed]) => {
          const mark = isSealed ? "" : " ";
          return `[${mark}${text}\n,${mark}${metadata ?? "null"}\n]`;
        });
        const sum = rows
          .filter(([, , isSealed]) => isSealed)
          .flatMap(([text, metadata]) => (metadata === null ? [text] : [text, metadata]))
          .reduce((total, text) => total + texts.of(text), 0);
        expect(texts.sumPieces(page.join(","), [2, 4])).toBe(sum);
      }),
    );
  });

  it("sumPieces() returns for any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(texts.sumPieces(text, [9])).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("storedChecksum()", () => {
  it("is the same checksum in 32 bits with a sign", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (sum) => {
        const stored = storedChecksum(sum);
        return stored === (stored | 0) && isSameChecksum(stored, sum);
      }),
    );
    expect(isSameChecksum(1, 2)).toBe(false);
    expect(isSameChecksum(-1, 2 ** 32 - 1)).toBe(true);
  });
});
