/**
 * Joins the slices of a multipart object into one stream.
 *
 * workerd cannot pipe one transform stream into another, but it can pipe the body of a response. So
 * this service joins the slices, and the script receives the body of a response.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import { BlobDirectory } from "../content/blob-directory.ts";
import { BlobDamagedError } from "../core/blob-damage.ts";
import { StreamSource } from "../content/byte-source.ts";
import type { JoinRequest } from "../content/content-reader.ts";
import { OpenedSlices } from "../content/opened-slices.ts";
import { decodeFrame } from "../transport/frame.ts";

const copyBytes = 256 * 1024;

export class ContentJoiner extends WorkerEntrypoint<{ readonly blobs: Fetcher }> {
  override async fetch(request: Request): Promise<Response> {
    const { bucketName, content } = decodeFrame<JoinRequest>(await request.arrayBuffer());
    const slices = new OpenedSlices(new BlobDirectory(this.env.blobs, bucketName), content);
    try {
      await slices.open();
    } catch (error) {
      if (error instanceof BlobDamagedError) return Response.json(error.damage, { status: 410 });
      throw error;
    }
    const { readable, writable } = new FixedLengthStream(slices.length);
    // A failure reaches the reader of the stream.
    this.ctx.waitUntil(join(slices, writable).catch(() => {}));
    return new Response(readable);
  }
}

async function join(slices: OpenedSlices, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  let buffer = new ArrayBuffer(copyBytes);
  try {
    for await (const stream of slices.streams()) buffer = await copy(stream, writer, buffer);
    await writer.close();
  } catch (error) {
    await writer.abort(error);
  } finally {
    await slices.close();
  }
}

/** Returns the memory for the next copy: the garbage collector would not keep up. */
async function copy(
  stream: ReadableStream,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  buffer: ArrayBuffer,
): Promise<ArrayBuffer> {
  const source = new StreamSource(stream);
  try {
    let bytes = await source.read(buffer);
    while (bytes.length > 0) {
      await writer.write(bytes);
      bytes = await source.read(bytes.buffer);
    }
    return bytes.buffer.byteLength === copyBytes ? bytes.buffer : new ArrayBuffer(copyBytes);
  } catch (error) {
    // The reader has ended, or the file cannot be read: the file is closed at once.
    await source.cancel(error).catch(() => {});
    throw error;
  }
}
