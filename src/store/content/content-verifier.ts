/** Verifies files by the hash that was computed when they were written, before they are delivered. */
import { encodeHex } from "../../base/hex.ts";
import { hashAlgorithms } from "../core/checksum.ts";
import type { ContentSlice } from "../core/operations.ts";
import type { BlobDirectory } from "./blob-directory.ts";
import { BlobDamagedError } from "../core/blob-damage.ts";
import { StreamSource } from "./byte-source.ts";

/**
 * Reads every file of `content` whole, also a file of which only a part is wanted: the hash covers
 * the whole file. The bytes pass through one buffer.
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
  const source = new StreamSource(file);
  const digest = new crypto.DigestStream(hashAlgorithms.md5.name);
  const writer = digest.getWriter();
  let bytes = await source.read(new ArrayBuffer(readBytes));
  while (bytes.length > 0) {
    await writer.write(bytes);
    bytes = await source.read(bytes.buffer);
  }
  await writer.close();
  return encodeHex(new Uint8Array(await digest.digest));
}

/** Hashing small chunks takes longer, and `pipeTo` passes on the small chunks of the disk. */
const readBytes = 256 * 1024;
