/** Writes content as it arrives: small content to memory, large content to a new file, with checksums. */
import { closeSync, openSync, write } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ChecksumAlgorithm, Checksums } from "../core/checksum.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateUploadSize } from "../core/multipart.ts";
import type { Content } from "../core/operations.ts";
import { ReusedMemory } from "./reused-memory.ts";
import { RunningChecksums } from "./running-checksums.ts";

export interface WriteOptions {
  /** MD5 is always computed. */
  readonly algorithms?: readonly ChecksumAlgorithm[];
  /** Called with the checksums after the last chunk. If it throws, nothing is left. */
  readonly verify?: (checksums: Checksums) => void;
}

/** The file system has not taken the content. */
export class ContentNotWrittenError extends Error {
  override readonly name = "ContentNotWrittenError";
  readonly code: string | undefined;
  readonly bytes: number;

  constructor(bytes: number, cause: NodeJS.ErrnoException) {
    super(`Cannot write content: ${cause.message}`, { cause });
    this.bytes = bytes;
    this.code = cause.code;
  }
}

/** Of one write. Large: each costs a turn of the event loop and a message to the thread that writes. */
const bufferBytes = 256 * 1024;
/** Of all writes in this process. */
const writeMemory = new ReusedMemory(bufferBytes, 16);

/**
 * The caller may reuse the memory of a chunk when it is asked for the next. On failure no file is left.
 *
 * @param place is called for large content, once: the folder and the name of the file
 * @throws StoreError 100100 for content that is too large, ContentNotWrittenError, or the error of
 *   the body, of `place` or of `verify`
 */
export async function writeContent(
  body: AsyncIterable<Uint8Array>,
  place: () => { readonly folder: string; readonly name: string },
  { algorithms = [], verify }: WriteOptions = {},
): Promise<Content> {
  const running = new RunningChecksums(["md5", ...algorithms]);
  const pieces: Uint8Array[] = [];
  let size = 0;
  let file: NewFile | undefined;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      validateUploadSize(size);
      running.update(chunk);
      if (file === undefined && size <= inlineBytesMax) pieces.push(new Uint8Array(chunk));
      else {
        if (file === undefined) {
          const { folder, name } = place();
          file = new NewFile(folder, name);
          for (const piece of pieces.splice(0)) await file.write(piece);
        }
        await file.write(chunk);
      }
    }
    await file?.end();
    const checksums = running.end();
    verify?.(checksums);
    return file === undefined
      ? { bytes: joined(pieces), checksums }
      : { blob: file.name, size, checksums };
  } catch (error) {
    await file?.discard();
    throw error;
  }
}

/**
 * A file that is being written: chunks are collected in one buffer while the other is written. To
 * open and to close the file takes less time than a message to another thread.
 */
class NewFile {
  readonly name: string;
  readonly #path: string;
  readonly #descriptor: number;
  #buffer: Buffer<ArrayBuffer>;
  #spare: Buffer<ArrayBuffer> | undefined;
  #isClosed = false;
  #filled = 0;
  #written = 0;
  /** The write in progress. */
  #writing: Promise<void> = Promise.resolve();

  /** @throws ContentNotWrittenError */
  constructor(folder: string, name: string) {
    this.name = name;
    this.#path = join(folder, name);
    try {
      this.#descriptor = openSync(this.#path, "wx", 0o600);
    } catch (error) {
      throw new ContentNotWrittenError(0, error as NodeJS.ErrnoException);
    }
    this.#buffer = writeMemory.take();
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let start = 0; start < chunk.length;) {
      const some = chunk.subarray(start, start + bufferBytes - this.#filled);
      this.#buffer.set(some, this.#filled);
      this.#filled += some.length;
      start += some.length;
      if (this.#filled === bufferBytes) await this.#flush();
    }
  }

  async end(): Promise<void> {
    await this.#flush();
    await this.#writing;
    this.#close();
  }

  /** Closes and removes the file. */
  async discard(): Promise<void> {
    await this.#writing.catch(() => {});
    try {
      this.#close();
    } catch {
      // The caller is told why the content was given up.
    }
    await rm(this.#path, { force: true });
  }

  /** Called when no write is in progress. `discard()` can follow `end()`. */
  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    writeMemory.giveBack(this.#buffer);
    if (this.#spare !== undefined) writeMemory.giveBack(this.#spare);
    closeSync(this.#descriptor);
  }

  /** Waits for the write before, and starts the next. */
  async #flush(): Promise<void> {
    await this.#writing;
    const full = this.#buffer;
    const length = this.#filled;
    this.#buffer = this.#spare ?? writeMemory.take();
    this.#spare = full;
    this.#filled = 0;
    this.#writing = this.#append(full, length);
    // The next call awaits the write, and receives its error.
    this.#writing.catch(() => {});
  }

  async #append(buffer: Buffer, length: number): Promise<void> {
    for (let start = 0; start < length;) {
      const count = await this.#writeSome(buffer, start, length - start);
      start += count;
      this.#written += count;
    }
  }

  #writeSome(buffer: Buffer, start: number, length: number): Promise<number> {
    return new Promise((resolve, reject) => {
      write(this.#descriptor, buffer, start, length, null, (error, count) => {
        if (error === null) resolve(count);
        else reject(new ContentNotWrittenError(this.#written + length, error));
      });
    });
  }
}

/** In a buffer of its own: the whole buffer of a view would travel. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, second] = pieces;
  if (first !== undefined && second === undefined) return first;
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}
