/** The checksum in the options of `put`. */
import { createHash } from "node:crypto";

import { digestAlgorithms, type DigestAlgorithm } from "../operation.ts";
import type { Options } from "./arguments.ts";
import { digestError, fieldError } from "./errors.ts";

const names: Record<DigestAlgorithm, string> = {
  md5: "MD5",
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
};

const sizesBytes: Record<DigestAlgorithm, number> = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

export type Checksums = Partial<Record<DigestAlgorithm, string>>;

export function hexDigest(algorithm: DigestAlgorithm, bytes: Uint8Array): string {
  return createHash(algorithm).update(bytes).digest("hex");
}

/** The given hash in lower-case hexadecimal. The options contain at most one hash. */
export function readChecksum(options: Options): Checksums {
  const given = digestAlgorithms.filter((algorithm) => options[algorithm] !== undefined);
  const [algorithm] = given;
  if (algorithm === undefined) return {};
  if (given.length > 1) throw new TypeError("You cannot specify multiple hashing algorithms.");
  return { [algorithm]: readHash(options[algorithm], algorithm) };
}

function readHash(value: unknown, algorithm: DigestAlgorithm): string {
  const name = names[algorithm];
  const sizeBytes = sizesBytes[algorithm];
  if (typeof value === "string") {
    if (value.length !== sizeBytes * 2) {
      throw new TypeError(`${name} is ${sizeBytes * 2} hex characters, not ${value.length}`);
    }
    if (!/^[0-9a-f]*$/i.test(value)) {
      throw new TypeError(`Provided ${name} wasn't a valid hex string`);
    }
    return value.toLowerCase();
  }
  if (!(value instanceof ArrayBuffer || value instanceof Uint8Array)) {
    throw fieldError(algorithm, { on: "PutOptions", type: "BufferSource or string" });
  }
  if (value.byteLength !== sizeBytes) {
    throw new TypeError(`${name} is ${sizeBytes} bytes, not ${value.byteLength}`);
  }
  return Buffer.from(value as Uint8Array).toString("hex");
}

/** Verifies the given hash. The result is the object's `checksums`: MD5 and the given hash. */
export function checkChecksum(given: Checksums, bytes: Uint8Array): Checksums {
  const checksums: Checksums = { md5: hexDigest("md5", bytes) };
  for (const algorithm of digestAlgorithms) {
    const hash = given[algorithm];
    if (hash === undefined) continue;
    const actual = hexDigest(algorithm, bytes);
    if (hash !== actual) throw digestError({ name: names[algorithm], given: hash, actual });
    checksums[algorithm] = actual;
  }
  return checksums;
}
