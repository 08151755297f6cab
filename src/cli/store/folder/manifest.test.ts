import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObjectRecord } from "../../../store/core/operations.ts";
import { checkHeader, decodeEntry, encodeEntry, manifestHeader } from "./manifest.ts";

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

describe("decodeEntry()", () => {
  it("round-trips, except for the version and the time of the upload", () => {
    fc.assert(
      fc.property(record, fc.constantFrom("a/b", ".ledge-keys/0"), (object, path) => {
        const line = encodeEntry(object, path);
        const { version: _, uploaded: __, ...kept } = object;
        expect(line).not.toContain("\n");
        expect(decodeEntry(line, 2)).toEqual(JSON.parse(JSON.stringify({ ...kept, path })));
      }),
    );
  });

  const complete = { key: "a", size: 1, etag: "e", storageClass: "Standard" };
  it.each([
    ["5", "is not a JSON object"],
    ["{", "is not a JSON object"],
    ["{}", "is not a complete entry"],
    [JSON.stringify({ ...complete, size: "1" }), "is not a complete entry"],
    [JSON.stringify({ ...complete, storageClass: "x" }), "is not a complete entry"],
    [JSON.stringify({ ...complete, customMetadata: { a: 1 } }), "is not a complete entry"],
    [JSON.stringify({ ...complete, httpMetadata: { other: "x" } }), "is not a complete entry"],
    [
      JSON.stringify({ ...complete, httpMetadata: { cacheExpiry: "x" } }),
      "is not a complete entry",
    ],
    [JSON.stringify({ ...complete, path: "../a" }), "names a file outside"],
    [JSON.stringify({ ...complete, path: "/a" }), "names a file outside"],
    [JSON.stringify({ ...complete, path: "a\\..\\b" }), "names a file outside"],
  ])("refuses %s", (line, problem) => {
    expect(() => decodeEntry(line, 7)).toThrow(`Line 7 of the manifest ${problem}`);
  });
});

describe("checkHeader()", () => {
  it("refuses another version", () => {
    expect(() => checkHeader(manifestHeader)).not.toThrow();
    expect(() => checkHeader('{"format":"ledge store export","version":2}')).toThrow(
      "Ledge does not know",
    );
  });
});
