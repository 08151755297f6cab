/**
 * Content on this side: a file, whose length is taken once and held to. It can be read as often as
 * needed, for a transfer may have to begin again.
 */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { Readable, Transform } from "node:stream";
import { UserError } from "../../base/user-error.ts";
import type { ChecksumAlgorithm } from "../core/checksum.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { multipartEtag } from "../core/multipart.ts";

export interface LocalContent {
  readonly size: number;
  /** All of it, for what is small. */
  bytes(): Uint8Array;
  /** A part of it, exactly so long or failing. */
  stream(start: number, length: number): Readable;
}

export class FileContent implements LocalContent {
  readonly path: string;
  readonly size: number;
  #bytes: Uint8Array | undefined;

  private constructor(path: string, size: number) {
    this.path = path;
    this.size = size;
  }

  /** Of small files there are many, and asking the system at once is quicker than waiting. */
  static of(path: string): FileContent {
    let found;
    try {
      found = statSync(path);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new UserError(code === "ENOENT" ? `There is no file ${path}.` : message);
    }
    if (!found.isFile()) throw new UserError(`${path} is not a file.`);
    return new FileContent(path, found.size);
  }

  bytes(): Uint8Array {
    return (this.#bytes ??= this.#read());
  }

  stream(start: number, length: number): Readable {
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
        done(null, chunk);
      },
      flush(done) {
        done(count === length ? null : changed(path));
      },
    });
    file.once("error", (error) => checked.destroy(error));
    checked.once("close", () => file.destroy());
    return file.pipe(checked);
  }

  /** In hexadecimal. */
  async hash(algorithm: ChecksumAlgorithm): Promise<string> {
    if (this.size <= inlineBytesMax) {
      return createHash(algorithm).update(this.bytes()).digest("hex");
    }
    return this.#hashPart(algorithm, 0, this.size);
  }

  /** The etag that the content has as an object of parts of this size. */
  async multipartEtag(partSize: number): Promise<string> {
    const parts: { etag: string }[] = [];
    for (let start = 0; start < this.size; start += partSize) {
      const length = Math.min(partSize, this.size - start);
      parts.push({ etag: await this.#hashPart("md5", start, length) });
    }
    return multipartEtag(parts);
  }

  async #hashPart(algorithm: ChecksumAlgorithm, start: number, length: number): Promise<string> {
    const hash = createHash(algorithm);
    for await (const chunk of this.stream(start, length)) hash.update(chunk as Buffer);
    return hash.digest("hex");
  }

  #read(): Uint8Array {
    const bytes = readFileSync(this.path);
    if (bytes.length < this.size) throw changed(this.path);
    // Plain bytes: a Buffer turns itself into text where frames are written.
    return new Uint8Array(bytes.buffer, bytes.byteOffset, this.size);
  }
}

function changed(path: string): Error {
  return new UserError(`${path} has become shorter while it was read. Try again.`);
}
