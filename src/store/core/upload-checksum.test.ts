import { createHash, hash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChecksumType, S3ChecksumAlgorithm } from "./checksum.ts";
import { crcOf } from "./crc.ts";
import { StoreError } from "./errors.ts";
import { checksumsOfUpload, resolveUploadChecksum } from "./upload-checksum.ts";

const algorithms = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const;

function digest(algorithm: S3ChecksumAlgorithm, bytes: Uint8Array): string {
  return algorithm === "sha1" || algorithm === "sha256"
    ? hash(algorithm, bytes)
    : crcOf(algorithm, bytes);
}

const partOf = (bytes: Uint8Array) => ({
  size: bytes.length,
  checksums: Object.fromEntries(algorithms.map((each) => [each, digest(each, bytes)])),
});
const parts = [partOf(Uint8Array.of(1, 2, 3)), partOf(Uint8Array.of(4))];
const whole = Uint8Array.of(1, 2, 3, 4);

describe("resolveUploadChecksum()", () => {
  it.each<[S3ChecksumAlgorithm, ChecksumType]>([
    ["crc32", "composite"],
    ["crc32c", "composite"],
    ["crc64nvme", "full object"],
    ["sha1", "composite"],
    ["sha256", "composite"],
  ])("gives %s the type %s", (checksumAlgorithm, checksumType) => {
    expect(resolveUploadChecksum({ checksumAlgorithm })).toEqual({
      checksumAlgorithm,
      checksumType,
    });
  });

  it("takes the type that the request names", () => {
    const named = { checksumAlgorithm: "crc32", checksumType: "full object" } as const;
    expect(resolveUploadChecksum(named)).toEqual(named);
    expect(resolveUploadChecksum({})).toEqual({});
  });

  it.each([
    [
      { checksumAlgorithm: "sha256", checksumType: "full object" },
      "The FULL_OBJECT checksum type cannot be used with the sha256 checksum algorithm.",
    ],
    [
      { checksumAlgorithm: "crc64nvme", checksumType: "composite" },
      "The COMPOSITE checksum type cannot be used with the crc64nvme checksum algorithm.",
    ],
    [
      { checksumType: "composite" },
      "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.",
    ],
  ] as const)("refuses %j", (checksum, text) => {
    expect(() => resolveUploadChecksum(checksum)).toThrow(new StoreError(200002, text));
  });
});

describe("checksumsOfUpload()", () => {
  it("is empty without an algorithm", () => {
    expect(checksumsOfUpload({}, parts)).toEqual({});
  });

  it.each(["crc32", "crc32c", "crc64nvme"] as const)("combines the %s of the parts", (each) => {
    const upload = { checksumAlgorithm: each, checksumType: "full object" } as const;
    expect(checksumsOfUpload(upload, parts)).toEqual({ [each]: crcOf(each, whole) });
  });

  it.each(["crc32", "crc32c", "sha1", "sha256"] as const)(
    "composes the %s of the parts",
    (each) => {
      const digests = parts.map(({ checksums }) => Buffer.from(checksums[each] as string, "hex"));
      const composite = `${digest(each, Buffer.concat(digests))}-2`;
      const upload = { checksumAlgorithm: each, checksumType: "composite" } as const;
      expect(checksumsOfUpload(upload, parts)).toEqual({ [each]: composite });
      expect(checksumsOfUpload({}, parts, { algorithm: each, hex: composite })).toEqual({
        [each]: composite,
      });
    },
  );

  it("is empty when a part was uploaded without the checksum", () => {
    const upload = { checksumAlgorithm: "sha256", checksumType: "composite" } as const;
    expect(checksumsOfUpload(upload, [...parts, { size: 1, checksums: {} }])).toEqual({});
  });

  it("refuses another checksum than expected", () => {
    const expected = { algorithm: "crc32", hex: "00000000" } as const;
    expect(() => checksumsOfUpload({}, parts, expected)).toThrow(
      expect.objectContaining({ code: 10037 }),
    );
  });

  it.each([
    { algorithm: "sha256", hex: createHash("sha256").update(whole).digest("hex") },
    { algorithm: "md5", hex: "0".repeat(32) },
  ] as const)("refuses %j, which the parts do not give", (expected) => {
    expect(() => checksumsOfUpload({}, parts, expected)).toThrow(
      expect.objectContaining({ code: 200002 }),
    );
  });

  it("verifies the full CRC of any division", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 30 }), { minLength: 1 }),
        fc.constantFrom("crc32", "crc32c", "crc64nvme"),
        (pieces, algorithm) => {
          const hex = crcOf(algorithm, Buffer.concat(pieces));
          const expected = { algorithm, hex };
          expect(checksumsOfUpload({}, pieces.map(partOf), expected)).toEqual({ [algorithm]: hex });
        },
      ),
    );
  });
});
