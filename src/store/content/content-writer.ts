/**
 * Getting a value to where it is kept: small ones travel to the bucket with the call, large ones
 * go straight to a file, hashed on the way, and only their name travels.
 *
 * Until the bucket has committed the name, the file belongs to whoever wrote it.
 */
import type { BlobDirectory } from "./blob-directory.ts";
import { makeBlobName } from "../core/blob-name.ts";
import { checksumAlgorithms, type ChecksumAlgorithm, type Checksums } from "../core/checksum.ts";
import { encodeHex } from "../../base/hex.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateUploadSize } from "../core/multipart.ts";
import type { Content } from "../core/operations.ts";
import type { StreamValue, Value } from "../client/bucket-calls.ts";
import { MarkedSource, StreamSource } from "./byte-source.ts";

/** Read so much of a stream at a time: hashing small reads is what makes large uploads slow. */
const readBytes = 256 * 1024;

export class ContentWriter {
  readonly #blobs: BlobDirectory;
  readonly #runId: string;

  constructor(blobs: BlobDirectory, runId: string) {
    this.#blobs = blobs;
    this.#runId = runId;
  }

  /**
   * Takes in a value. On failure no file stays behind.
   *
   * @throws StoreError 100100 for a value that is too large, and whatever the stream fails with
   */
  async write(value: Value, algorithms: ChecksumAlgorithm[]): Promise<Content> {
    if ("stream" in value) return this.#writeStream(value, algorithms);
    const { bytes } = value;
    validateUploadSize(bytes.length);
    if (bytes.length <= inlineBytesMax) return inline(bytes, algorithms);
    const blob = this.#newName();
    const hashing = hash(bytes, algorithms);
    await this.#blobs.write(blob, bytes);
    return { blob, size: bytes.length, checksums: await hashing };
  }

  async #writeStream(
    { stream, length, sealed }: StreamValue,
    algorithms: ChecksumAlgorithm[],
  ): Promise<Content> {
    // What is known to be too large is refused before a byte is read.
    if (length !== null) validateUploadSize(length);
    const source = sealed ? new MarkedSource(stream) : new StreamSource(stream);
    const start = await source.read(new ArrayBuffer(inlineBytesMax + 1));
    if (start.length <= inlineBytesMax) return inline(start, algorithms);

    const blob = this.#newName();
    const { readable, writable } =
      length === null ? new IdentityTransformStream() : new FixedLengthStream(length);
    const file = writable.getWriter();
    const hashes = algorithms.map((algorithm) => new RunningHash(algorithm));
    // The disk may fail while the stream is waited for, so both are watched.
    const written = this.#blobs.write(blob, readable);
    const diskFailed = written.then(() => new Promise<never>(() => {}));
    diskFailed.catch(() => {});
    try {
      let size = 0;
      let chunk: Uint8Array<ArrayBuffer> = start;
      while (chunk.length > 0) {
        size += chunk.length;
        validateUploadSize(size);
        await Promise.race([
          Promise.all([file.write(chunk), ...hashes.map((running) => running.write(chunk))]),
          diskFailed,
        ]);
        // By now everybody is done with the chunk. Its memory is used again: left to the garbage
        // collector, the chunks of a large upload would pile up.
        const buffer = chunk === start ? new ArrayBuffer(readBytes) : chunk.buffer;
        chunk = await source.read(buffer);
      }
      await Promise.race([file.close(), diskFailed]);
      await written;
      const checksums: Checksums = Object.fromEntries(
        await Promise.all(hashes.map(async (running) => [running.algorithm, await running.end()])),
      );
      return { blob, size, checksums };
    } catch (error) {
      await Promise.allSettled([
        source.cancel(error),
        file.abort(error),
        ...hashes.map((running) => running.abort()),
        written,
      ]);
      // A body that is given up may look to the disk service like one that has ended.
      await this.#blobs.remove(blob);
      throw error;
    }
  }

  #newName(): string {
    return makeBlobName(this.#runId, crypto.randomUUID().replaceAll("-", ""));
  }
}

async function inline(bytes: Uint8Array, algorithms: ChecksumAlgorithm[]): Promise<Content> {
  return { bytes: alone(bytes), checksums: await hash(bytes, algorithms) };
}

/** Bytes in memory of their own: with a part of a buffer, all of it would travel. */
function alone(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
}

/** Hashes of bytes that are all here. One after the other: a digest keeps the isolate busy anyway. */
async function hash(bytes: Uint8Array, algorithms: ChecksumAlgorithm[]): Promise<Checksums> {
  const checksums: Partial<Record<ChecksumAlgorithm, string>> = {};
  for (const algorithm of algorithms) {
    const digest = await crypto.subtle.digest(checksumAlgorithms[algorithm].name, bytes);
    checksums[algorithm] = encodeHex(new Uint8Array(digest));
  }
  return checksums;
}

/** A hash that is fed chunk by chunk. */
class RunningHash {
  readonly algorithm: ChecksumAlgorithm;
  readonly #stream: DigestStream;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(algorithm: ChecksumAlgorithm) {
    this.algorithm = algorithm;
    this.#stream = new crypto.DigestStream(checksumAlgorithms[algorithm].name);
    // Nobody waits for the digest of an upload that failed.
    this.#stream.digest.catch(() => {});
    this.#writer = this.#stream.getWriter();
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#writer.write(chunk);
  }

  async end(): Promise<string> {
    await this.#writer.close();
    return encodeHex(new Uint8Array(await this.#stream.digest));
  }

  abort(): Promise<void> {
    return this.#writer.abort();
  }
}
