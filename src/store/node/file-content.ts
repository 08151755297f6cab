/**
 * The content of a local file. The size is read once, and a file that becomes shorter is an error.
 * The content can be read several times, because a transfer may be repeated.
 */
import { createReadStream, readFileSync, statSync, type Stats } from "node:fs";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { ChecksumAlgorithm, Checksums, HashAlgorithm } from "../core/checksum.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { multipartEtag } from "../core/multipart.ts";
import { RunningChecksums } from "./written-content.ts";

/** The size of each part but the last, of content that is too large for one upload. */
export const largePartBytes = 1024 ** 3;

export class FileContent {
  readonly path: string;
  readonly size: number;
  /** When the file was changed, in milliseconds since the epoch. */
  readonly modified: number;
  #bytes: Uint8Array | undefined;

  private constructor(path: string, { size, mtimeMs }: Stats) {
    this.path = path;
    this.size = size;
    this.modified = mtimeMs;
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
    return new FileContent(path, found);
  }

  /**
   * A range of the content.
   *
   * @param onBytes is called with the position in a large file that the reader has reached
   * @throws UserError if the file has fewer bytes
   */
  async *chunks(
    start: number,
    length: number,
    onBytes?: (position: number) => void,
  ): AsyncGenerator<Uint8Array> {
    // Many small files are read faster without a stream for each.
    if (this.size <= inlineBytesMax) yield this.#all().subarray(start, start + length);
    else if (length > 0) {
      const end = start + length;
      const options = { start, end: end - 1, highWaterMark: 256 * 1024 };
      let position = start;
      for await (const chunk of createReadStream(this.path, options)) {
        position += (chunk as Buffer).length;
        onBytes?.(position);
        yield chunk as Buffer;
      }
      if (position < end) throw this.#shortened();
    }
  }

  #all(): Uint8Array {
    if (this.#bytes === undefined) {
      const bytes = readFileSync(this.path);
      if (bytes.length < this.size) throw this.#shortened();
      this.#bytes = bytes.subarray(0, this.size);
    }
    return this.#bytes;
  }

  async hash(algorithm: HashAlgorithm): Promise<string> {
    return (await this.checksums([algorithm]))[algorithm] as string;
  }

  /** Of a range of the content, in one pass. */
  async checksums(
    algorithms: readonly ChecksumAlgorithm[],
    { start, length } = { start: 0, length: this.size },
  ): Promise<Checksums> {
    const running = new RunningChecksums(algorithms);
    for await (const chunk of this.chunks(start, length)) running.update(chunk);
    return running.end();
  }

  async multipartEtag(partBytes: number): Promise<string> {
    const parts: { etag: string }[] = [];
    for (const part of this.parts(partBytes)) {
      const { md5 } = await this.checksums(["md5"], part);
      parts.push({ etag: md5 as string });
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

  #shortened(): Error {
    return new UserError(`${this.path} became shorter while it was read. Try again.`);
  }
}
