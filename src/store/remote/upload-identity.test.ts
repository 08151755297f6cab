import { describe, expect, it } from "vitest";
import { decodeUploadId, encodeUploadId } from "./upload-identity.ts";

describe("encodeUploadId()", () => {
  it("is read by decodeUploadId(), with and without properties", () => {
    for (const properties of [{}, { ssecKeyMd5: "ab", checksumAlgorithm: "crc32" } as const]) {
      for (const serviceId of ["2~AbC_-.d", "a!b!00000000", ""]) {
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
    for (const uploadId of ["id", "", "id!", "id!00000000", `${other}%`]) {
      const unknown = { serviceId: uploadId, isIssued: false, properties: {} };
      expect(decodeUploadId("key", uploadId)).toEqual(unknown);
    }
    expect(decodeUploadId("other key", other).isIssued).toBe(false);
    expect(decodeUploadId("key", `${other}AAAA`).isIssued).toBe(false);
  });
});
