import { hash } from "node:crypto";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { sha1, sha256 } from "./sha.ts";

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
