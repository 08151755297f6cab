import { describe, expect, it } from "vitest";
import {
  packHeaders,
  objectOfHeaders,
  packedHeader,
  unpackHeaders,
  type PackedObject,
  decodeUploadId,
  encodeUploadId,
} from "./remote-object.ts";
import * as fc from "fast-check";
import { httpMetadataFields } from "../core/metadata.ts";

function checksumsOf(etag: string, checksum: string): unknown {
  const headers = new Headers({ etag: `"${etag}"`, "x-amz-checksum-crc32": checksum });
  return objectOfHeaders("k", headers, 9).checksums;
}

describe("objectOfHeaders()", () => {
  const md5 = "0".repeat(32);

  it("has the checksum of the service for an object in parts", () => {
    expect(checksumsOf(`${md5}-2`, "y/Q5Jg==")).toEqual({ crc32: "cbf43926" });
    expect(checksumsOf(`${md5}-2`, "y/Q5Jg==-2")).toEqual({ crc32: "cbf43926-2" });
    expect(checksumsOf(`${md5}-11`, "y/Q5Jg==-11")).toEqual({ crc32: "cbf43926-11" });
  });

  it("leaves out a composite checksum of one part", () => {
    expect(checksumsOf(`${md5}-1`, "y/Q5Jg==")).toEqual({ crc32: "cbf43926" });
    expect(checksumsOf(`${md5}-1`, "y/Q5Jg==-1")).toEqual({});
  });

  it.each([
    ["in parts, the time of the service if it is later", `${md5}-2`, 50_000, 60_000],
    ["in parts, the time of its beginning if it is later", `${md5}-2`, 60_123, 60_123],
    ["of one put, the time of the put", md5, 50_123, 50_123],
  ])("has for an object %s", (_, etag, begun, uploaded) => {
    const packed = packHeaders({
      version: "v",
      uploaded: begun,
      checksums: {},
      http: {},
      custom: {},
      storageClass: "Standard",
    });
    const stored = new Date(60_000).toUTCString();
    const headers = new Headers({ etag: `"${etag}"`, "last-modified": stored, ...packed });
    expect(objectOfHeaders("k", headers, 9).uploaded).toBe(uploaded);
  });
});

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

describe("encodeUploadId()", () => {
  it("is read by decodeUploadId(), with and without properties", () => {
    for (const properties of [{}, { ssecKeyMd5: "ab", checksumAlgorithm: "crc32" } as const]) {
      for (const serviceId of ["2~AbC_-.d", "a~b~00000000", ""]) {
        const uploadId = encodeUploadId("ü/key", serviceId, properties);
        expect(decodeUploadId("ü/key", uploadId)).toEqual({
          serviceId,
          isIssued: true,
          properties,
        });
      }
    }
  });

  it("makes the id of a listing the id of the creation", () => {
    expect(encodeUploadId("key", "id", {})).toBe(encodeUploadId("key", "id"));
  });
});

describe("decodeUploadId()", () => {
  it("passes on an id that is not ours, or that belongs to another key", () => {
    const other = encodeUploadId("key", "id");
    for (const uploadId of ["id", "", "id~", "id~00000000", `${other}%`]) {
      const unknown = { serviceId: uploadId, isIssued: false, properties: {} };
      expect(decodeUploadId("key", uploadId)).toEqual(unknown);
    }
    expect(decodeUploadId("other key", other).isIssued).toBe(false);
    expect(decodeUploadId("key", `${other}AAAA`).isIssued).toBe(false);
  });
});
