import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { md5 } from "./md5.ts";

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
])("md5() of %j is the hash of the specification", (text, hash) => {
  expect(md5(new TextEncoder().encode(text))).toBe(hash);
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
