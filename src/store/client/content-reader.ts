/** Content on its way out: bytes that came with the call, files, or several of both in a row. */
import type { BlobDirectory } from "../blobs/blob-directory.ts";
import type { ContentSlice } from "../core/operations.ts";

/**
 * Opens content. Its length is known to the stream, so it can be stored or sent on as it is.
 *
 * @throws BlobDamagedError when the first file is not what the bucket says; a later one that is
 *   not makes the stream fail
 */
export async function openContent(
  blobs: BlobDirectory,
  content: readonly ContentSlice[],
): Promise<ReadableStream> {
  const [first, ...others] = content;
  if (first === undefined) return streamOf(new ArrayBuffer(0));
  const start = await openSlice(blobs, first);
  if (others.length === 0) return start;

  const length = content.reduce((sum, slice) => sum + sliceLength(slice), 0);
  const { readable, writable } = new FixedLengthStream(length);
  // Whoever reads the other end sees a failure there; there is nobody else to tell.
  void concatenate(blobs, start, others, writable).catch(() => {});
  return readable;
}

async function concatenate(
  blobs: BlobDirectory,
  start: ReadableStream,
  others: readonly ContentSlice[],
  writable: WritableStream,
): Promise<void> {
  try {
    await start.pipeTo(writable, { preventClose: true });
    for (const slice of others) {
      const stream = await openSlice(blobs, slice);
      await stream.pipeTo(writable, { preventClose: true });
    }
    await writable.close();
  } catch (error) {
    await writable.abort(error);
  }
}

function openSlice(blobs: BlobDirectory, slice: ContentSlice): Promise<ReadableStream> {
  return "blob" in slice ? blobs.read(slice.blob, slice) : Promise.resolve(streamOf(slice.bytes));
}

function sliceLength(slice: ContentSlice): number {
  return "blob" in slice ? slice.length : slice.bytes.byteLength;
}

function streamOf(bytes: ArrayBuffer): ReadableStream {
  return new Response(bytes).body as ReadableStream;
}
