/** Reads a stream in large chunks, into memory that is reused. */
import { endOfStreamMark } from "../transport/marked-stream.ts";

export class StreamSource {
  readonly #reader: ReadableStreamBYOBReader;

  constructor(stream: ReadableStream) {
    this.#reader = stream.getReader({ mode: "byob" });
  }

  /** Fills `buffer` with the next bytes. Only at the end of the stream are there fewer. */
  async read(buffer: ArrayBuffer, offset = 0): Promise<Uint8Array<ArrayBuffer>> {
    const view = new Uint8Array(buffer, offset);
    const { value } = await this.#reader.readAtLeast(view.length, view);
    // At the end some versions of workerd return the memory empty, others do not return it.
    return value ?? new Uint8Array(new ArrayBuffer(1), 0, 0);
  }

  cancel(reason: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }
}

/** A marked stream. The last byte read is always held back, because it may be the mark. */
export class MarkedSource extends StreamSource {
  #held: number | undefined;

  override async read(buffer: ArrayBuffer): Promise<Uint8Array<ArrayBuffer>> {
    const size = buffer.byteLength;
    const first = this.#held ?? (await this.#readByte());
    const rest = await super.read(buffer, 1);
    const following = rest.length === size - 1 ? await this.#readByte() : undefined;
    const bytes = new Uint8Array(rest.buffer, 0, rest.length + 1);
    if (first !== undefined) bytes[0] = first;
    if (following !== undefined) {
      this.#held = following;
      return bytes;
    }
    // The stream has ended, and its last byte is the mark.
    this.#held = bytes.at(-1);
    if (first === undefined || this.#held !== endOfStreamMark.complete) {
      throw new Error("The stream broke before its end");
    }
    return bytes.subarray(0, -1);
  }

  async #readByte(): Promise<number | undefined> {
    return (await super.read(new ArrayBuffer(1)))[0];
  }

  /** Reads to the end: if the stream is cancelled, Miniflare's proxy fails the call by itself. */
  override async cancel(): Promise<void> {
    let bytes = await super.read(new ArrayBuffer(drainBytes));
    while (bytes.length > 0) bytes = await super.read(bytes.buffer);
  }
}

const drainBytes = 64 * 1024;
