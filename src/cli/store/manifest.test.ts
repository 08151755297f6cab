import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObjectRecord } from "../../store/core/operations.ts";
import { checkHead, decodeEntry, encodeEntry, manifestHead } from "./manifest.ts";

const record: fc.Arbitrary<Required<ObjectRecord>> = fc.record({
  key: fc.string({ unit: "grapheme", minLength: 1 }),
  version: fc.string(),
  size: fc.nat(),
  etag: fc.string(),
  uploaded: fc.nat(),
  checksums: fc.record({ md5: fc.string(), sha1: fc.string() }, { requiredKeys: [] }),
  storageClass: fc.constantFrom("Standard", "InfrequentAccess"),
  http: fc.record(
    { contentType: fc.string(), cacheControl: fc.string(), cacheExpiry: fc.nat() },
    { requiredKeys: [] },
  ),
  custom: fc.dictionary(fc.string(), fc.string()),
});

describe("an entry", () => {
  it("comes back as it was, but for what the store gives anew", () => {
    fc.assert(
      fc.property(record, fc.constantFrom("a/b", ".ledge-keys/0"), (object, path) => {
        const line = encodeEntry(object, path);
        const { version: _, uploaded: __, ...kept } = object;
        expect(line).not.toContain("\n");
        expect(decodeEntry(line, 2)).toEqual(JSON.parse(JSON.stringify({ ...kept, path })));
      }),
    );
  });

  const whole = { key: "a", size: 1, etag: "e", storageClass: "Standard" };
  it.each([
    ["5", "is not a JSON object"],
    ["{", "is not a JSON object"],
    ["{}", "is not a whole entry"],
    [JSON.stringify({ ...whole, size: "1" }), "is not a whole entry"],
    [JSON.stringify({ ...whole, storageClass: "x" }), "is not a whole entry"],
    [JSON.stringify({ ...whole, customMetadata: { a: 1 } }), "is not a whole entry"],
    [JSON.stringify({ ...whole, httpMetadata: { other: "x" } }), "is not a whole entry"],
    [JSON.stringify({ ...whole, httpMetadata: { cacheExpiry: "x" } }), "is not a whole entry"],
    [JSON.stringify({ ...whole, path: "../a" }), "names a file outside"],
    [JSON.stringify({ ...whole, path: "/a" }), "names a file outside"],
    [JSON.stringify({ ...whole, path: "a\\..\\b" }), "names a file outside"],
  ])("that reads %s is refused", (line, problem) => {
    expect(() => decodeEntry(line, 7)).toThrow(`Line 7 of the manifest ${problem}`);
  });
});

describe("checkHead()", () => {
  it("knows its own kind only", () => {
    expect(() => checkHead(manifestHead)).not.toThrow();
    expect(() => checkHead('{"format":"ledge store export","version":2}')).toThrow("kind");
  });
});
