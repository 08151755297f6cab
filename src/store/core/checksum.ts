/** Content hashes: the hash that a caller may give with an upload, and the hashes of an object. */
import { encodeHex } from "../../base/hex.ts";
import { StoreError } from "./errors.ts";

export const checksumAlgorithms = {
  md5: { name: "MD5", bytes: 16 },
  sha1: { name: "SHA-1", bytes: 20 },
  sha256: { name: "SHA-256", bytes: 32 },
  sha384: { name: "SHA-384", bytes: 48 },
  sha512: { name: "SHA-512", bytes: 64 },
} as const;

export type ChecksumAlgorithm = keyof typeof checksumAlgorithms;

/** Hashes in lower-case hexadecimal. */
export type Checksums = { readonly [Algorithm in ChecksumAlgorithm]?: string };

/** The hash that the content of an upload must have. */
export interface ExpectedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  readonly hex: string;
}

/**
 * The hash that a caller gave, in lower-case hexadecimal.
 *
 * @throws TypeError when `value` cannot be a hash of this algorithm
 */
export function parseChecksum(
  algorithm: ChecksumAlgorithm,
  value: Uint8Array | string,
): ExpectedChecksum {
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

/** @throws StoreError 10037 when the content does not have the expected hash */
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

/** The hashes to compute for an upload: MD5, and the algorithm of the expected hash. */
export function requiredAlgorithms(expected: ExpectedChecksum | undefined): ChecksumAlgorithm[] {
  return expected === undefined || expected.algorithm === "md5"
    ? ["md5"]
    : ["md5", expected.algorithm];
}
