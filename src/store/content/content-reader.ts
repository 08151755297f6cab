/** Opens the content of an object: bytes that came with the answer, a file, or several of both. */
import type { BlobDirectory } from "./blob-directory.ts";
import { BlobDamagedError } from "../core/blob-damage.ts";
import type { ContentSlice } from "../core/operations.ts";
import { encodeFrame } from "../transport/frame.ts";

/** A request to the joiner. */
export interface JoinRequest {
  readonly bucketName: string;
  readonly content: readonly ContentSlice[];
}

/** The content, if it came with the answer; `null` when some of it has to be fetched. */
export function bytesAtHand(content: readonly ContentSlice[]): ArrayBuffer | null {
  const [first, second] = content;
  if (first === undefined) return new ArrayBuffer(0);
  return second === undefined && "bytes" in first ? ownBuffer(first.bytes) : null;
}

/**
 * Opens content that has to be fetched. The stream has a known length, so a script can store it or
 * respond with it.
 *
 * @param joiner the service that joins several slices (`bucket/content-joiner.ts`)
 * @throws BlobDamagedError when a file is missing or has another size
 */
export async function openContent(
  blobs: BlobDirectory,
  joiner: Fetcher,
  content: readonly ContentSlice[],
): Promise<ReadableStream> {
  const [first, second] = content;
  if (first !== undefined && second === undefined) return openSlice(blobs, first);

  const response = await joiner.fetch("http://content/", {
    method: "POST",
    body: encodeFrame({ bucketName: blobs.bucketName, content } satisfies JoinRequest),
  });
  if (response.ok) return response.body as ReadableStream;
  throw new BlobDamagedError(await response.json());
}

export async function openSlice(
  blobs: BlobDirectory,
  slice: ContentSlice,
): Promise<ReadableStream> {
  return "blob" in slice ? blobs.read(slice) : (new Response(slice.bytes).body as ReadableStream);
}

/** The bytes as a buffer that holds nothing else. */
export function ownBuffer(bytes: ArrayBuffer | Uint8Array): ArrayBuffer {
  if (bytes instanceof ArrayBuffer) return bytes;
  const { buffer, byteOffset, byteLength } = bytes;
  const whole = byteLength === buffer.byteLength;
  return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}
