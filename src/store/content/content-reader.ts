/** Content on its way out: bytes that came with the call, a file, or several of both in a row. */
import { BlobDamagedError, type BlobDirectory } from "./blob-directory.ts";
import type { ContentSlice } from "../core/operations.ts";
import { encodeFrame } from "../client/frame.ts";

/** What the joiner is asked for. */
export interface JoinRequest {
  readonly bucketName: string;
  readonly content: readonly ContentSlice[];
}

/** Content that came with the answer; `null` when some of it has to be fetched. */
export function bytesAtHand(content: readonly ContentSlice[]): ArrayBuffer | null {
  const [first, second] = content;
  if (first === undefined) return new ArrayBuffer(0);
  return second === undefined && "bytes" in first ? ownBuffer(first.bytes) : null;
}

/**
 * Opens content that is not at hand. A stream knows its length, so it can be stored or sent on as it is.
 *
 * @param joiner the service that puts several slices together (`bucket/content-joiner.ts`)
 * @throws BlobDamagedError when the first file is not what the bucket says; a later one that is
 *   not makes the stream fail
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

export function openSlice(blobs: BlobDirectory, slice: ContentSlice): Promise<ReadableStream> {
  return "blob" in slice ? blobs.read(slice.blob, slice) : Promise.resolve(streamOf(slice.bytes));
}

function streamOf(bytes: ArrayBuffer | Uint8Array): ReadableStream {
  return new Response(bytes).body as ReadableStream;
}

function ownBuffer(bytes: ArrayBuffer | Uint8Array): ArrayBuffer {
  return bytes instanceof ArrayBuffer ? bytes : new Uint8Array(bytes).buffer;
}
