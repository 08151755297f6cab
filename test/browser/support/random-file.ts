/** A large file with content that does not repeat, for uploads. */
import { createCipheriv, createHash } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";

const chunkBytes = 1024 * 1024;

/**
 * The same content for the same seed.
 *
 * @param seed from 0 to 255
 * @returns the SHA-256 of the content
 */
export function writeRandomFile(path: string, { mebibytes = 1, seed = 0 }): string {
  const cipher = createCipheriv("aes-128-ctr", Buffer.alloc(16, seed), Buffer.alloc(16));
  const hash = createHash("sha256");
  const zeros = Buffer.alloc(chunkBytes);
  const file = openSync(path, "w");
  try {
    for (let written = 0; written < mebibytes; written++) {
      const chunk = cipher.update(zeros);
      hash.update(chunk);
      writeSync(file, chunk);
    }
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}
