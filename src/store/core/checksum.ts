/**
 * Checksums of content: the checksum that a caller may give with an upload, and the checksums of an
 * object.
 *
 * The binding knows hashes. The S3-compatible interface knows CRCs too, and composite checksums:
 * the checksum of the checksums of the parts of an upload, with the number of the parts behind it.
 */
import { encodeHex } from "../../base/hex.ts";
import { StoreError } from "./errors.ts";

/** The algorithms of the binding. */
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
export type CrcAlgorithm = Exclude<ChecksumAlgorithm, HashAlgorithm>;
/** The algorithms that a request of the S3-compatible interface can name. */
export type S3ChecksumAlgorithm = CrcAlgorithm | "sha1" | "sha256";

/** `"full object"`: of the content. `"composite"`: of the checksums of the parts. */
export type ChecksumType = "full object" | "composite";

/** Hashes of whole content in lower-case hexadecimal. */
export type Hashes = { readonly [Algorithm in HashAlgorithm]?: string };

/** Checksums in lower-case hexadecimal. A composite checksum ends in `-` and the number of parts. */
export type Checksums = { readonly [Algorithm in ChecksumAlgorithm]?: string };

/** The checksum that the content of an upload must have. */
export interface ExpectedChecksum<Algorithm extends ChecksumAlgorithm = ChecksumAlgorithm> {
  readonly algorithm: Algorithm;
  /** As in `Checksums` */
  readonly hex: string;
}

/**
 * The hash that a caller gave, in lower-case hexadecimal.
 *
 * @throws TypeError when `value` cannot be a hash of this algorithm
 */
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

/** @throws StoreError 10037 when the content does not have the expected checksum */
export function verifyChecksum(expected: ExpectedChecksum | undefined, actual: Checksums): void {
  if (expected === undefined) return;
  const { algorithm, hex } = expected;
  const computed = actual[algorithm];
  if (computed === undefined) throw new Error(`Cannot verify ${algorithm}: it was not computed`);
  if (computed === hex) return;
  const { name } = checksumAlgorithms[algorithm];
  throw new StoreError(
    10037,
    `The ${name} checksum you specified did not match what we received.\n` +
      `You provided a ${name} checksum with value: ${hex}\n` +
      `Actual ${name} was: ${computed}`,
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

/** Whether a checksum of `Checksums` is composite. */
export function isComposite(hex: string): boolean {
  return hex.includes("-");
}
