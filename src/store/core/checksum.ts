/**
 * Checksums of content: the checksum that a caller may give with an upload, and the checksums of an
 * object.
 *
 * The binding knows hashes. The S3-compatible interface knows CRCs too, and composite checksums:
 * the checksum of the checksums of the parts of an upload, with the number of the parts behind it.
 */
import { decodeHex, encodeHex, hexToBase64 } from "../../base/hex.ts";
import { StoreError } from "./errors.ts";
import { combineCrcs, crcOf, sha1, sha256, type CrcAlgorithm } from "./hash.ts";

export const hashAlgorithms = {
  md5: { name: "MD5", bytes: 16 },
  sha1: { name: "SHA-1", bytes: 20 },
  sha256: { name: "SHA-256", bytes: 32 },
  sha384: { name: "SHA-384", bytes: 48 },
  sha512: { name: "SHA-512", bytes: 64 },
} as const;

export const checksumAlgorithms = {
  ...hashAlgorithms,
  crc32: { name: "CRC32", bytes: 4 },
  crc32c: { name: "CRC32C", bytes: 4 },
  crc64nvme: { name: "CRC64NVME", bytes: 8 },
} as const;

export type HashAlgorithm = keyof typeof hashAlgorithms;
export type ChecksumAlgorithm = keyof typeof checksumAlgorithms;
/** The algorithms that a request of the S3-compatible interface can name. */
export type S3ChecksumAlgorithm = CrcAlgorithm | "sha1" | "sha256";

/** `"full object"`: of the content. `"composite"`: of the checksums of the parts. */
export type ChecksumType = "full object" | "composite";

/** As S3 writes it. */
export function checksumTypeName(type: ChecksumType): string {
  return type === "composite" ? "COMPOSITE" : "FULL_OBJECT";
}

/** The checksum that an upload is created with: its object gets a checksum of this kind. */
export interface UploadChecksum {
  readonly checksumAlgorithm?: S3ChecksumAlgorithm;
  readonly checksumType?: ChecksumType;
}

/** Hashes of whole content in lower-case hexadecimal. */
export type Hashes = { readonly [Algorithm in HashAlgorithm]?: string };

/** Checksums in lower-case hexadecimal. A composite checksum ends in `-` and the number of parts. */
export type Checksums = { readonly [Algorithm in ChecksumAlgorithm]?: string };

export interface ExpectedChecksum<Algorithm extends ChecksumAlgorithm = ChecksumAlgorithm> {
  readonly algorithm: Algorithm;
  /** As in `Checksums` */
  readonly hex: string;
}

/** @throws TypeError when `value` cannot be a hash of this algorithm */
export function parseChecksum<Algorithm extends ChecksumAlgorithm>(
  algorithm: Algorithm,
  value: Uint8Array | string,
): ExpectedChecksum<Algorithm> {
  const { name, bytes } = checksumAlgorithms[algorithm];
  if (typeof value !== "string") {
    if (value.length !== bytes)
      throw new TypeError(`${name} is ${bytes} bytes, not ${value.length}`);
    return { algorithm, hex: encodeHex(value) };
  }
  if (value.length !== bytes * 2) {
    throw new TypeError(`${name} is ${bytes * 2} hex characters, not ${value.length}`);
  }
  if (!/^[0-9a-f]*$/i.test(value)) {
    throw new TypeError(`Provided ${name} wasn't a valid hex string`);
  }
  return { algorithm, hex: value.toLowerCase() };
}

/** As S3 writes it: base64, with the number of the parts behind a composite checksum. */
export function checksumText(hex: string): string {
  const [digits = "", count] = hex.split("-");
  return hexToBase64(digits) + (count === undefined ? "" : `-${count}`);
}

/**
 * @param textOf how the error shows a checksum
 * @throws StoreError 10037 when the content does not have the expected checksum
 */
export function verifyChecksum(
  expected: ExpectedChecksum | undefined,
  actual: Checksums,
  textOf: (hex: string) => string = (hex) => hex,
): void {
  if (expected === undefined) return;
  const { algorithm, hex } = expected;
  const computed = actual[algorithm];
  if (computed === undefined) throw new Error(`Cannot verify ${algorithm}: it was not computed`);
  if (computed === hex) return;
  const { name } = checksumAlgorithms[algorithm];
  throw new StoreError(
    10037,
    `The ${name} checksum you specified did not match what we received.\n` +
      `You provided a ${name} checksum with value: ${textOf(hex)}\n` +
      `Actual ${name} was: ${textOf(computed)}`,
  );
}

/** The checksums to compute for an upload: MD5, and the algorithm of the expected checksum. */
export function requiredAlgorithms<Algorithm extends ChecksumAlgorithm>(
  expected: ExpectedChecksum<Algorithm> | undefined,
): (Algorithm | "md5")[] {
  return expected === undefined || expected.algorithm === "md5"
    ? ["md5"]
    : ["md5", expected.algorithm];
}

export function isComposite(hex: string): boolean {
  return hex.includes("-");
}

/**
 * The checksum of an object that is uploaded in parts.
 *
 * A full checksum is that of the whole content. It exists for CRCs only, because the CRC of the
 * object follows from the CRCs of the parts (`hash.ts`). A composite checksum is the checksum of the
 * checksums of the parts, with the number of the parts behind it. Amazon's service defines both,
 * and which algorithm has which.
 */

/** The types of each algorithm. The first is the default. */
const checksumTypes: Record<S3ChecksumAlgorithm, readonly [ChecksumType, ChecksumType?]> = {
  crc32: ["composite", "full object"],
  crc32c: ["composite", "full object"],
  crc64nvme: ["full object"],
  sha1: ["composite"],
  sha256: ["composite"],
};

export const s3ChecksumAlgorithms: readonly string[] = Object.keys(checksumTypes);

interface SummedPart {
  readonly size: number;
  readonly checksums: Checksums;
}

/** @throws StoreError 200002 for a type that the algorithm does not have */
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
    throw new StoreError(
      200002,
      `The ${checksumTypeName(type)} checksum type cannot be used with the ${algorithm} checksum algorithm.`,
    );
  }
  return { checksumAlgorithm: algorithm, checksumType: type ?? types[0] };
}

/** The checksum of the object of an upload, as the caller of the completion has computed it. */
export interface CompletionChecksum {
  /** minio-go sends a composite checksum without the number of the parts. */
  readonly checksum?: ExpectedChecksum;
  /** The type that the caller takes the upload for. */
  readonly checksumType?: ChecksumType;
}

/**
 * The checksums of the object of an upload.
 *
 * @returns nothing for an upload of which a part has no checksum of the upload's algorithm: the
 *   binding has uploaded the part
 * @throws StoreError 10037 for another checksum than expected, 200002 for another type than the
 *   upload's, and for a checksum that the parts do not allow to verify
 */
export function checksumsOfUpload(
  upload: UploadChecksum,
  parts: readonly SummedPart[],
  { checksum: expected, checksumType: namedType }: CompletionChecksum = {},
): Checksums {
  const { checksumAlgorithm, checksumType } = upload;
  const own =
    checksumAlgorithm === undefined || checksumType === undefined
      ? null
      : checksumOfParts(checksumAlgorithm, checksumType, parts);
  const checksums: Checksums =
    own === null ? {} : { [checksumAlgorithm as S3ChecksumAlgorithm]: own };
  if (checksumType !== undefined && (namedType ?? checksumType) !== checksumType) {
    throw otherType(checksumType);
  }
  if (expected === undefined) return checksums;
  const { algorithm, hex } = expected;
  const known = namedType ?? (algorithm === checksumAlgorithm ? checksumType : undefined);
  if (known === "full object" && isComposite(hex)) throw otherType(known);
  const type = known ?? (isComposite(hex) ? "composite" : "full object");
  const actual =
    algorithm in checksumTypes
      ? checksumOfParts(algorithm as S3ChecksumAlgorithm, type, parts)
      : null;
  if (actual === null) {
    throw new StoreError(
      200002,
      `The ${algorithm} checksum cannot be verified: each part must be uploaded with a ` +
        `${algorithm} checksum.`,
    );
  }
  const compared = isComposite(hex) ? actual : actual.replace(/-\d+$/, "");
  verifyChecksum(expected, { [algorithm]: compared }, checksumText);
  return { ...checksums, [algorithm]: actual };
}

function otherType(type: ChecksumType): StoreError {
  return new StoreError(
    200002,
    `The upload was created using the ${checksumTypeName(type)} checksum mode. The complete request ` +
      "must use the same checksum mode.",
  );
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
  const joined = decodeHex(pieces.map(({ hex }) => hex).join(""));
  return joined === null ? null : `${digests[algorithm](joined)}-${parts.length}`;
}

const digests: Record<S3ChecksumAlgorithm, (bytes: Uint8Array) => string> = {
  sha1,
  sha256,
  crc32: (bytes) => crcOf("crc32", bytes),
  crc32c: (bytes) => crcOf("crc32c", bytes),
  crc64nvme: (bytes) => crcOf("crc64nvme", bytes),
};
