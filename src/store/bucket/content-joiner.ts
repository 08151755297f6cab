/**
 * Joins the slices of a multipart object into one stream.
 *
 * workerd cannot pipe one transform stream into another, but it can pipe the body of a response. So
 * this service joins the slices, and the script receives the body of a response.
 */
import { WorkerEntrypoint } from "cloudflare:workers";
import {
  BlobDirectory,
  StreamSource,
  type JoinRequest,
  openSlice,
} from "../client/blob-directory.ts";
import { BlobDamagedError } from "../core/content.ts";
import { decodeFrame } from "../client/message.ts";
import { partNumberMax } from "../core/limits.ts";
import type { ContentSlice } from "../core/operations.ts";

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

/**
 * The opened files of one reader of a multipart object.
 *
 * A removed file stays readable through an open handle. So a reader opens all files of its range
 * before it receives the first byte: it then reads the version that it has opened, whole, even when
 * the object is replaced or deleted meanwhile. The kernel closes the handles of a process that
 * dies, so no list of readers can outlive them.
 *
 * A handle costs about 70 microseconds and 15 KiB of memory. The readers of one runtime together
 * keep at most `handlesMax` files open; files beyond that number are opened when the reader reaches
 * them. If such a file was removed meanwhile, the read fails: a reader never gets wrong bytes.
 */

/** Enough for one reader of the object with the most parts. */
const handlesMax = partNumberMax;
/** Of all readers in this runtime. */
let handlesOpen = 0;

const parallelOpens = 64;

class OpenedSlices {
  readonly #blobs: BlobDirectory;
  readonly #slices: readonly ContentSlice[];
  /** By the index of the slice. A slice that is not here is opened when its turn comes. */
  readonly #opened = new Map<number, ReadableStream>();

  constructor(blobs: BlobDirectory, slices: readonly ContentSlice[]) {
    this.#blobs = blobs;
    this.#slices = slices;
  }

  get length(): number {
    return this.#slices.reduce((sum, slice) => sum + sliceLength(slice), 0);
  }

  /** @throws BlobDamagedError when a file is missing or has another size; then no file stays open */
  async open(): Promise<void> {
    for (let start = 0; start < this.#slices.length; start += parallelOpens) {
      const some = this.#slices.slice(start, start + parallelOpens);
      if (start > 0 && handlesOpen + some.length > handlesMax) return;
      const results = await Promise.allSettled(
        some.map((slice, index) => this.#open(slice, start + index)),
      );
      const errors = results.flatMap((result) =>
        result.status === "rejected" ? [result.reason as unknown] : [],
      );
      if (errors.length === 0) continue;
      const damage = errors.find((error) => error instanceof BlobDamagedError);
      // The process has no more handles: the other files are opened when the reader reaches them.
      if (damage === undefined && this.#opened.size > parallelOpens) return;
      await this.close();
      throw damage ?? errors[0];
    }
  }

  async #open(slice: ContentSlice, index: number): Promise<void> {
    handlesOpen++;
    try {
      this.#opened.set(index, await openSlice(this.#blobs, slice));
    } catch (error) {
      handlesOpen--;
      throw error;
    }
  }

  /** The slices in order. The caller reads or cancels each stream. */
  async *streams(): AsyncGenerator<ReadableStream> {
    for (const [index, slice] of this.#slices.entries()) {
      yield this.#take(index) ?? (await openSlice(this.#blobs, slice));
    }
  }

  async close(): Promise<void> {
    const indexes = Array.from(this.#opened.keys());
    await Promise.allSettled(indexes.map(async (index) => this.#take(index)?.cancel()));
  }

  #take(index: number): ReadableStream | undefined {
    const stream = this.#opened.get(index);
    if (this.#opened.delete(index)) handlesOpen--;
    return stream;
  }
}

function sliceLength(slice: ContentSlice): number {
  return "blob" in slice ? slice.length : slice.bytes.byteLength;
}
