/**
 * Joins the slices of a multipart object into one stream.
 *
 * workerd cannot pipe one transform stream into another, but it can pipe the body of a response. So
 * this service joins the slices, and the script receives the body of a response.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { BlobDamagedError, BlobDirectory } from "../content/blob-directory.ts";
import { StreamSource } from "../content/byte-source.ts";
import { openSlice, type JoinRequest } from "../content/content-reader.ts";
import type { ContentSlice } from "../core/operations.ts";
import { decodeFrame } from "../transport/frame.ts";

const copyBytes = 256 * 1024;

export class ContentJoiner extends WorkerEntrypoint<{ readonly blobs: Fetcher }> {
  override async fetch(request: Request): Promise<Response> {
    const { bucketName, content } = decodeFrame<JoinRequest>(await request.arrayBuffer());
    const blobs = new BlobDirectory(this.env.blobs, bucketName);
    const [first, ...others] = content as [ContentSlice, ...ContentSlice[]];
    let start: ReadableStream;
    try {
      start = await openSlice(blobs, first);
    } catch (error) {
      if (error instanceof BlobDamagedError) return Response.json(error.damage, { status: 410 });
      throw error;
    }
    const length = content.reduce((sum, slice) => sum + sliceLength(slice), 0);
    const { readable, writable } = new FixedLengthStream(length);
    // A failure reaches the reader of the stream.
    this.ctx.waitUntil(join(blobs, start, others, writable).catch(() => {}));
    return new Response(readable);
  }
}

async function join(
  blobs: BlobDirectory,
  start: ReadableStream,
  others: readonly ContentSlice[],
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    await copy(start, writer);
    for (const slice of others) await copy(await openSlice(blobs, slice), writer);
    await writer.close();
  } catch (error) {
    await writer.abort(error);
  }
}

async function copy(
  stream: ReadableStream,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  const source = new StreamSource(stream);
  let bytes = await source.read(new ArrayBuffer(copyBytes));
  while (bytes.length > 0) {
    await writer.write(bytes);
    bytes = await source.read(bytes.buffer);
  }
}

function sliceLength(slice: ContentSlice): number {
  return "blob" in slice ? slice.length : slice.bytes.byteLength;
}
