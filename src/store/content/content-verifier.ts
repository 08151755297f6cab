/** Verifies files by the hash that was computed when they were written, before they are delivered. */
import { encodeHex } from "../../base/hex.ts";
import { checksumAlgorithms } from "../core/checksum.ts";
import type { ContentSlice } from "../core/operations.ts";
import { BlobDamagedError, type BlobDirectory } from "./blob-directory.ts";

/**
 * Reads every file of `content` whole, also a file of which only a part is wanted: the hash covers
 * the whole file. The bytes go from the disk to the hash, and none stays in memory.
 *
 * @throws BlobDamagedError for a file with another hash, or with another size
 */
export async function verifyContent(
  blobs: BlobDirectory,
  content: readonly ContentSlice[],
): Promise<void> {
  for (const slice of content) {
    // The bucket has verified content in the database.
    if (!("blob" in slice) || slice.md5 === undefined) continue;
    const { blob, blobSize, md5 } = slice;
    const file = await blobs.read({ blob, blobSize, offset: 0, length: blobSize });
    const actualMd5 = await hashOf(file);
    if (actualMd5 === md5) continue;
    throw new BlobDamagedError({
      blob,
      expectedBytes: blobSize,
      actualBytes: blobSize,
      hashes: { expected: md5, actual: actualMd5 },
    });
  }
}

async function hashOf(file: ReadableStream): Promise<string> {
  const digest = new crypto.DigestStream(checksumAlgorithms.md5.name);
  await file.pipeTo(digest);
  return encodeHex(new Uint8Array(await digest.digest));
}
