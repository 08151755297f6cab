/**
 * The checksum of an object that is uploaded in parts.
 *
 * A full checksum is that of the whole content. It exists for CRCs only, because the CRC of the
 * object follows from the CRCs of the parts (`crc.ts`). A composite checksum is the checksum of the
 * checksums of the parts, with the number of the parts behind it. Amazon's service defines both,
 * and which algorithm has which.
 */
import { decodeHex } from "../../base/hex.ts";
import {
  isComposite,
  verifyChecksum,
  type Checksums,
  type ChecksumType,
  type CrcAlgorithm,
  type ExpectedChecksum,
  type S3ChecksumAlgorithm,
} from "./checksum.ts";
import { combineCrcs, crcOf } from "./crc.ts";
import { StoreError } from "./errors.ts";
import type { UploadChecksum } from "./operations.ts";
import { sha1, sha256 } from "./sha.ts";

/** The types of each algorithm. The first is the default. */
const checksumTypes: Record<S3ChecksumAlgorithm, readonly [ChecksumType, ChecksumType?]> = {
  crc32: ["composite", "full object"],
  crc32c: ["composite", "full object"],
  crc64nvme: ["full object"],
  sha1: ["composite"],
  sha256: ["composite"],
};

export const s3ChecksumAlgorithms: readonly string[] = Object.keys(checksumTypes);

/** A part, as far as the checksum of the object depends on it. */
interface SummedPart {
  readonly size: number;
  readonly checksums: Checksums;
}

/**
 * The checksum of a new upload, with the default of the type.
 *
 * @throws StoreError 200002 for a type that the algorithm does not have
 */
export function resolveUploadChecksum({
  checksumAlgorithm: algorithm,
  checksumType: type,
}: UploadChecksum): UploadChecksum {
  if (algorithm === undefined) {
    if (type === undefined) return {};
    throw new StoreError(
      200002,
      "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.",
    );
  }
  const types = checksumTypes[algorithm];
  if (type !== undefined && !types.includes(type)) {
    const name = type === "composite" ? "COMPOSITE" : "FULL_OBJECT";
    throw new StoreError(
      200002,
      `The ${name} checksum type cannot be used with the ${algorithm} checksum algorithm.`,
    );
  }
  return { checksumAlgorithm: algorithm, checksumType: type ?? types[0] };
}

/**
 * The checksums of the object of an upload.
 *
 * @param expected of the whole object, as the caller has computed it
 * @returns nothing for an upload of which a part has no checksum of the upload's algorithm: the
 *   binding has uploaded the part
 * @throws StoreError 10037 for another checksum than expected, 200002 for a checksum that the parts
 *   do not allow to verify
 */
export function checksumsOfUpload(
  { checksumAlgorithm, checksumType }: UploadChecksum,
  parts: readonly SummedPart[],
  expected?: ExpectedChecksum,
): Checksums {
  const own =
    checksumAlgorithm === undefined || checksumType === undefined
      ? null
      : checksumOfParts(checksumAlgorithm, checksumType, parts);
  const checksums: Checksums =
    own === null ? {} : { [checksumAlgorithm as S3ChecksumAlgorithm]: own };
  if (expected === undefined) return checksums;
  const { algorithm, hex } = expected;
  const actual =
    algorithm in checksumTypes
      ? checksumOfParts(
          algorithm as S3ChecksumAlgorithm,
          isComposite(hex) ? "composite" : "full object",
          parts,
        )
      : null;
  if (actual === null) {
    throw new StoreError(
      200002,
      `The ${algorithm} checksum cannot be verified: each part must be uploaded with a ` +
        `${algorithm} checksum.`,
    );
  }
  verifyChecksum(expected, { [algorithm]: actual });
  return { ...checksums, [algorithm]: actual };
}

/** `null` when a part has no checksum of the algorithm, or when there is no such checksum. */
function checksumOfParts(
  algorithm: S3ChecksumAlgorithm,
  type: ChecksumType,
  parts: readonly SummedPart[],
): string | null {
  if (!checksumTypes[algorithm].includes(type)) return null;
  const pieces = parts.flatMap(({ size, checksums }) => {
    const hex = checksums[algorithm];
    return hex === undefined ? [] : [{ size, hex }];
  });
  if (pieces.length < parts.length) return null;
  if (type === "full object") return combineCrcs(algorithm as CrcAlgorithm, pieces);
  const digests = decodeHex(pieces.map(({ hex }) => hex).join(""));
  return digests === null ? null : `${digestOf(algorithm, digests)}-${parts.length}`;
}

function digestOf(algorithm: S3ChecksumAlgorithm, bytes: Uint8Array): string {
  switch (algorithm) {
    case "sha1":
      return sha1(bytes);
    case "sha256":
      return sha256(bytes);
    case "crc32":
    case "crc32c":
    case "crc64nvme":
      return crcOf(algorithm, bytes);
  }
}
