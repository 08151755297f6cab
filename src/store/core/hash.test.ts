import { createHash, hash } from "node:crypto";
import { expect, it, describe } from "vitest";
import { md5, sha1, sha256, combineCrcs, crcOf, RunningCrc } from "./hash.ts";
import { crc32 } from "node:zlib";
import * as fc from "fast-check";

const nodes = (content: Uint8Array): string => createHash("md5").update(content).digest("hex");

// RFC 1321, appendix A.5.
it.each([
  ["", "d41d8cd98f00b204e9800998ecf8427e"],
  ["a", "0cc175b9c0f1b6a831c399e269772661"],
  ["abc", "900150983cd24fb0d6963f7d28e17f72"],
  ["message digest", "f96b697d7cb7938d525a2f31aaf161d0"],
  ["abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"],
  [
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "d174ab98d277d9f5a5611c2c9f419d9f",
  ],
  ["1234567890".repeat(8), "57edf4a22be3c955ac49da2e2107b67a"],
])("md5() of %j is the hash of the specification", (text, hex) => {
  expect(md5(new TextEncoder().encode(text))).toBe(hex);
});

it("md5() equals Node's MD5 for every length around a block", () => {
  for (let length = 0; length <= 130; length++) {
    const content = new Uint8Array(length).fill(0xff);
    expect(md5(content)).toBe(nodes(content));
  }
});

it("md5() equals Node's MD5 for any bytes, and for the tags of the largest number of parts", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1000 }), (content) => md5(content) === nodes(content)),
  );
  const tags = Uint8Array.from({ length: 160_000 }, (_, index) => (index * 7919) >> 3);
  expect(md5(tags)).toBe(nodes(tags));
});

it("md5() hashes only the view of a larger buffer", () => {
  const content = new Uint8Array([1, 2, 3, 4, 5]).subarray(1, 4);
  expect(md5(content)).toBe(nodes(new Uint8Array([2, 3, 4])));
});

it.each(Array.from({ length: 130 }, (_, length) => length))("hashes %d bytes", (length) => {
  const bytes = Uint8Array.from({ length }, (_, index) => index * 7);
  expect([sha1(bytes), sha256(bytes)]).toEqual([hash("sha1", bytes), hash("sha256", bytes)]);
});

it("hashes what Node hashes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1000 }), (bytes) => {
      expect([sha1(bytes), sha256(bytes)]).toEqual([hash("sha1", bytes), hash("sha256", bytes)]);
    }),
  );
});

const algorithms = ["crc32", "crc32c", "crc64nvme"] as const;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("crcOf()", () => {
  // The check values of the catalogue of parametrised CRC algorithms, and of RFC 3720, B.4.
  it.each([
    ["crc32", "123456789", "cbf43926"],
    ["crc32c", "123456789", "e3069283"],
    ["crc64nvme", "123456789", "ae8b14860a799888"],
    ["crc32", "", "00000000"],
    ["crc32c", "", "00000000"],
    ["crc64nvme", "", "0000000000000000"],
    ["crc32c", "\0".repeat(32), "8a9136aa"],
    ["crc64nvme", "\0".repeat(4096), "6482d367eb22b64e"],
  ] as const)("%s of %j", (algorithm, text, hex) => {
    expect(crcOf(algorithm, bytesOf(text))).toBe(hex);
  });

  it("is Node's CRC-32, for every length and alignment", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(20), (bytes, start) => {
        const some = bytes.subarray(start);
        expect(crcOf("crc32", some)).toBe(crc32(some).toString(16).padStart(8, "0"));
      }),
    );
  });
});

it("RunningCrc.update() takes content in pieces", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...algorithms),
      fc.array(fc.uint8Array({ maxLength: 40 })),
      (algorithm, pieces) => {
        const running = new RunningCrc(algorithm);
        for (const piece of pieces) running.update(piece);
        expect(running.digest()).toBe(crcOf(algorithm, joined(pieces)));
      },
    ),
  );
});

describe("combineCrcs()", () => {
  it("is the CRC of the concatenation", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...algorithms),
        fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1 }),
        (algorithm, pieces) => {
          const described = pieces.map((piece) => ({
            hex: crcOf(algorithm, piece),
            size: piece.length,
          }));
          expect(combineCrcs(algorithm, described)).toBe(crcOf(algorithm, joined(pieces)));
        },
      ),
    );
  });

  it("is the same however a large content is divided", () => {
    const zeros = new Uint8Array(1024 * 1024);
    const single = { hex: crcOf("crc64nvme", zeros), size: zeros.length };
    const doubled = (piece: typeof single): typeof single => ({
      hex: combineCrcs("crc64nvme", [piece, piece]),
      size: 2 * piece.size,
    });
    let eightGibibytes = single;
    for (let doubling = 0; doubling < 13; doubling++) eightGibibytes = doubled(eightGibibytes);
    const pieces = Array.from({ length: 2 ** 13 }, () => single);
    expect(combineCrcs("crc64nvme", pieces)).toBe(eightGibibytes.hex);
  });
});

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}
