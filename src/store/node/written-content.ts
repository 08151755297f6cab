/**
 * Content that this process writes: small content to memory, large content to a new file, with checksums.
 * The operation that stores the content names the file.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, write } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import type { ChecksumAlgorithm, Checksums } from "../core/checksum.ts";
import { RunningCrc } from "../core/hash.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateUploadSize } from "../core/multipart.ts";
import type { Content } from "../core/operations.ts";

export interface WriteOptions {
  /** MD5 is always computed. */
  readonly algorithms?: readonly ChecksumAlgorithm[];
  /** Called with the checksums after the last chunk. If it throws, nothing is left. */
  readonly verify?: (checksums: Checksums) => void;
}

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
 * Buffers that are used again. A buffer of this size for each read or write is garbage of as many
 * bytes as the content: the collector would take more time than the copy.
 */
export class ReusedMemory {
  readonly #bytes: number;
  readonly #keptMax: number;
  readonly #free: Buffer<ArrayBuffer>[] = [];

  /** @param keptMax how many buffers stay allocated while no caller uses them */
  constructor(bytes: number, keptMax: number) {
    this.#bytes = bytes;
    this.#keptMax = keptMax;
  }

  /** The content of the buffer is not defined. */
  take(): Buffer<ArrayBuffer> {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#bytes);
  }

  /** The caller neither reads nor writes the buffer any more, nor does a system call. */
  giveBack(memory: Buffer<ArrayBuffer>): void {
    if (this.#free.length < this.#keptMax) this.#free.push(memory);
  }
}

/** Of one write. Large: each costs a turn of the event loop and a message to the thread that writes. */
const bufferBytes = 256 * 1024;
/** Of all writes in this process. */
const writeMemory = new ReusedMemory(bufferBytes, 16);

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
      const left = length - start;
      const { bytesWritten } = await writeSome(this.#descriptor, buffer, start, left, null).catch(
        (error: NodeJS.ErrnoException) => {
          throw new ContentNotWrittenError(this.#written + left, error);
        },
      );
      start += bytesWritten;
      this.#written += bytesWritten;
    }
  }
}

const writeSome = promisify(write);

/** In a buffer of its own: the whole buffer of a view would travel. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, second] = pieces;
  return first !== undefined && second === undefined
    ? first
    : new Uint8Array(Buffer.concat(pieces));
}

interface RunningChecksum {
  update(bytes: Uint8Array): unknown;
  digest(): string;
}

/** The checksums of content that passes by in pieces. */
export class RunningChecksums {
  readonly #running: ReadonlyMap<ChecksumAlgorithm, RunningChecksum>;

  constructor(algorithms: readonly ChecksumAlgorithm[]) {
    this.#running = new Map(algorithms.map((each) => [each, startChecksum(each)]));
  }

  update(bytes: Uint8Array): void {
    for (const running of this.#running.values()) running.update(bytes);
  }

  end(): Checksums {
    return Object.fromEntries(
      Array.from(this.#running, ([algorithm, running]) => [algorithm, running.digest()]),
    );
  }
}

function startChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  if (algorithm === "crc32c" || algorithm === "crc64nvme") return new RunningCrc(algorithm);
  if (algorithm === "crc32") {
    // zlib's CRC-32 uses the instructions of the processor.
    let value = 0;
    return {
      update: (bytes) => (value = crc32(bytes, value)),
      digest: () => value.toString(16).padStart(8, "0"),
    };
  }
  const running = createHash(algorithm);
  return { update: (bytes) => running.update(bytes), digest: () => running.digest("hex") };
}
