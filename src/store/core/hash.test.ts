import { hash } from "node:crypto";
import { expect, it, describe } from "vitest";
import { md5, sha1, sha256, combineCrcs, crcOf, RunningCrc } from "./hash.ts";
import { crc32 } from "node:zlib";
import * as fc from "fast-check";

it("md5(), sha1() and sha256() are Node's hashes, also of a view of a larger buffer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1000 }), fc.nat(100), (bytes, start) => {
      const view = bytes.subarray(start);
      const hashes = [hash("md5", view), hash("sha1", view), hash("sha256", view)];
      expect([md5(view), sha1(view), sha256(view)]).toEqual(hashes);
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
