import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { httpMetadataFields } from "../core/metadata.ts";
import { packedHeader, packHeaders, unpackHeaders, type PackedObject } from "./packed-header.ts";

const plain: PackedObject = {
  version: "0123456789abcdef0123456789abcdef",
  uploaded: 1_700_000_000_123,
  http: {},
  custom: {},
  storageClass: "Standard",
  checksums: {},
};

const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constant(" padded "));
const hex = fc.stringMatching(/^[0-9a-f]{8}(-\d)?$/);

const objects: fc.Arbitrary<PackedObject> = fc
  .record({
    version: fc.stringMatching(/^[0-9a-f]{32}$/),
    uploaded: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
    http: fc.record(
      {
        ...Object.fromEntries(httpMetadataFields.map((field) => [field, text])),
        cacheExpiry: fc.oneof(
          fc.integer({ min: -8.64e15, max: 8.64e15 }),
          fc.nat({ max: 4_000_000_000 }).map((seconds) => seconds * 1000),
        ),
      },
      { requiredKeys: [] },
    ),
    custom: fc.dictionary(text, text),
    storageClass: fc.constantFrom("Standard" as const, "InfrequentAccess" as const),
    checksums: fc.record({ sha256: hex, crc32: hex }, { requiredKeys: [] }),
    ssecKeyMd5: fc.option(hex, { nil: undefined }),
  })
  .map(({ ssecKeyMd5, ...object }) =>
    ssecKeyMd5 === undefined ? object : { ...object, ssecKeyMd5 },
  );

/** The headers of an answer: a service adds a content type where there is none. */
function answered(headers: Record<string, string>): Headers {
  return new Headers({ "content-type": "binary/octet-stream", "content-language": "", ...headers });
}

describe("packHeaders()", () => {
  it("loses nothing", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const headers = packHeaders(object);
        for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]+$/);
        // The prototype of a dictionary of fast-check is null.
        const expected = structuredClone(object);
        expect(unpackHeaders(answered(headers))).toEqual(expected);
      }),
    );
  });

  it("names HTTP metadata in the headers that other readers know", () => {
    const http = { contentType: "image/png", cacheExpiry: 1_900_000_000_000 };
    const headers = packHeaders({ ...plain, http });
    expect(headers).toMatchObject({
      "content-type": "image/png",
      expires: "Sun, 17 Mar 2030 17:46:40 GMT",
    });
    expect(unpackHeaders(answered(headers))).toEqual({ ...plain, http });
  });

  it("packs what a header would change", () => {
    const http = { contentType: " a ", contentLanguage: "ü", cacheExpiry: 1 };
    const headers = packHeaders({ ...plain, http });
    expect(Object.keys(headers)).toEqual([packedHeader]);
  });

  it("leaves out the MD5, which is the entity tag", () => {
    const packed = packHeaders({ ...plain, checksums: { md5: "0".repeat(32) } });
    expect(packed).toEqual(packHeaders(plain));
  });
});

describe("unpackHeaders()", () => {
  it("returns null for objects of other writers", () => {
    expect(unpackHeaders(new Headers())).toBeNull();
    for (const value of ["", "%%%", "e30", "bnVsbA", "W10", "eyJ2ZXJzaW9uIjoxfQ"]) {
      expect(unpackHeaders(new Headers({ [packedHeader]: value }))).toBeNull();
    }
    fc.assert(
      fc.property(fc.string(), (value) => {
        const get = (name: string): string | null => (name === packedHeader ? value : null);
        expect(unpackHeaders({ get })).toBeNull();
      }),
    );
  });
});
