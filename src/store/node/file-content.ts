/**
 * The content of a local file. The size is read once, and a file that becomes shorter is an error.
 * The content can be read several times, because a transfer may be repeated.
 */
import { createHash, hash } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { pipeline, Readable, Transform } from "node:stream";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ChecksumAlgorithm, Checksums, HashAlgorithm } from "../core/checksum.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { multipartEtag } from "../core/multipart.ts";
import { RunningChecksums } from "./running-checksums.ts";

/** The size of each part but the last, of content that is too large for one upload. */
export const largePartBytes = 1024 ** 3;

export class FileContent {
  readonly path: string;
  readonly size: number;
  #bytes: Uint8Array | undefined;

  private constructor(path: string, size: number) {
    this.path = path;
    this.size = size;
  }

  /** Synchronous: for many small files this is faster than waiting for each. */
  static of(path: string): FileContent {
    let found;
    try {
      found = statSync(path);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") throw new NotFoundError(`There is no file ${path}.`);
      throw new UserError(message);
    }
    if (!found.isFile()) throw new UserError(`${path} is not a file.`);
    return new FileContent(path, found.size);
  }

  /** The whole content, for small files. */
  bytes(): Uint8Array {
    if (this.#bytes === undefined) {
      const bytes = readFileSync(this.path);
      if (bytes.length < this.size) throw fileShortened(this.path);
      // Not a Buffer: its `toJSON` would put text into a frame.
      this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, this.size);
    }
    return this.#bytes;
  }

  /**
   * A range of the content. The stream fails if the file has fewer bytes.
   *
   * @param onBytes is called with the position in the file that the reader has reached
   */
  stream(start: number, length: number, onBytes?: (position: number) => void): Readable {
    if (length === 0) return Readable.from([]);
    const file = createReadStream(this.path, {
      start,
      end: start + length - 1,
      highWaterMark: 256 * 1024,
    });
    let count = 0;
    const { path } = this;
    const checked = new Transform({
      transform(chunk: Buffer, _, done) {
        count += chunk.length;
        onBytes?.(start + count);
        done(null, chunk);
      },
      flush(done) {
        done(count === length ? null : fileShortened(path));
      },
    });
    return pipeline(file, checked, () => {
      // The reader of the stream receives its failure.
    });
  }

  /** The hash in hexadecimal. */
  async hash(algorithm: HashAlgorithm): Promise<string> {
    return this.size <= inlineBytesMax
      ? hash(algorithm, this.bytes())
      : this.#hashPart(algorithm, 0, this.size);
  }

  /** Several checksums in one pass. */
  async checksums(algorithms: readonly ChecksumAlgorithm[]): Promise<Checksums> {
    const running = new RunningChecksums(algorithms);
    if (this.size <= inlineBytesMax) running.update(this.bytes());
    else for await (const chunk of this.stream(0, this.size)) running.update(chunk as Buffer);
    return running.end();
  }

  /** The etag of an object that is uploaded in parts of this size. */
  async multipartEtag(partBytes: number): Promise<string> {
    const parts: { etag: string }[] = [];
    for (const { start, length } of this.parts(partBytes)) {
      parts.push({ etag: await this.#hashPart("md5", start, length) });
    }
    return multipartEtag(parts);
  }

  /** The ranges of the parts of an upload, of which all but the last have this size. */
  *parts(partBytes: number): Generator<{ readonly start: number; readonly length: number }> {
    let start = 0;
    // An upload of empty content has one part, too.
    do {
      const length = Math.min(partBytes, this.size - start);
      yield { start, length };
      start += length;
    } while (start < this.size);
  }

  async #hashPart(algorithm: HashAlgorithm, start: number, length: number): Promise<string> {
    const running = createHash(algorithm);
    for await (const chunk of this.stream(start, length)) running.update(chunk as Buffer);
    return running.digest("hex");
  }
}

function fileShortened(path: string): Error {
  return new UserError(`${path} became shorter while it was read. Try again.`);
}
