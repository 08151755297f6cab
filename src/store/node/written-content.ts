/**
 * Content that this process writes: small content to memory, large content to a new file, with checksums.
 * The operation that stores the content names the file.
 *
 * For the files of buckets the process has a run of its own, with a record (`state/runs.ts`), and its
 * id is in the names of its files (`core/content.ts`). While the process lives, the garbage collector
 * leaves these files alone, although no row names them yet. If the process is killed, the owner removes
 * the record, and the files that no row names are garbage.
 */
import { createHash, randomBytes } from "node:crypto";
import { closeSync, openSync, write } from "node:fs";
import { constants, copyFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { newRunId, RunRecords } from "../../state/runs.ts";
import { bucketFolder, makeBlobName } from "../core/content.ts";
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

/** The files of buckets that this process writes. */
export class ContentFiles {
  readonly #storeFolder: string;
  readonly #runs: RunRecords;
  readonly #runId = newRunId();
  #hasRecord = false;

  constructor(storeFolder: string) {
    this.#storeFolder = storeFolder;
    this.#runs = new RunRecords(storeFolder);
  }

  folderOf(bucketName: string): string {
    return join(this.#storeFolder, "blobs", bucketFolder(bucketName));
  }

  /** `writeContent()` to a file of the bucket. */
  write(
    bucketName: string,
    body: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<Content> {
    const place = () => ({ folder: this.folderOf(bucketName), name: this.#newName() });
    return writeContent(body, place, options);
  }

  /**
   * Copies a whole file into a bucket, without a read where the file system shares blocks. Returns
   * the name of the copy; `null` if the file does not exist any more.
   *
   * @param source the path of the file
   * @throws ContentNotWrittenError
   */
  async copy(source: string, size: number, bucketName: string): Promise<string | null> {
    const name = this.#newName();
    const path = join(this.folderOf(bucketName), name);
    try {
      await copyFile(source, path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      if ((await stat(path)).size === size) return name;
      await rm(path, { force: true });
      return null;
    } catch (error) {
      await rm(path, { force: true });
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw new ContentNotWrittenError(size, error as NodeJS.ErrnoException);
    }
  }

  /** Removes the file of content that no operation was sent for. */
  async discard(bucketName: string, content: Content): Promise<void> {
    if ("blob" in content) await rm(join(this.folderOf(bucketName), content.blob), { force: true });
  }

  /** Ends the run. Files that no row names are garbage from now on. */
  close(): void {
    if (this.#hasRecord) this.#runs.remove(this.#runId);
    this.#hasRecord = false;
  }

  /**
   * The record is written before the first file: see `core/content.ts`.
   *
   * @throws ContentNotWrittenError
   */
  #newName(): string {
    try {
      if (!this.#hasRecord) this.#runs.write(this.#runId);
    } catch (error) {
      throw new ContentNotWrittenError(0, error as NodeJS.ErrnoException);
    }
    this.#hasRecord = true;
    return makeBlobName(this.#runId, randomBytes(16).toString("hex"));
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
  return first !== undefined && second === undefined
    ? first
    : new Uint8Array(Buffer.concat(pieces));
}

/** The checksums of content that passes by in pieces. */

interface RunningChecksum {
  update(bytes: Uint8Array): unknown;
  /** In hexadecimal. */
  digest(): string;
}

export class RunningChecksums {
  readonly #running: readonly (readonly [ChecksumAlgorithm, RunningChecksum])[];

  constructor(algorithms: Iterable<ChecksumAlgorithm>) {
    this.#running = Array.from(new Set(algorithms), (algorithm) => [
      algorithm,
      startChecksum(algorithm),
    ]);
  }

  update(bytes: Uint8Array): void {
    for (const [, running] of this.#running) running.update(bytes);
  }

  /** Called once, after the last piece. */
  end(): Checksums {
    return Object.fromEntries(
      this.#running.map(([algorithm, running]) => [algorithm, running.digest()]),
    );
  }
}

function startChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  if (algorithm === "crc32") return new NativeCrc32();
  if (algorithm === "crc32c" || algorithm === "crc64nvme") return new RunningCrc(algorithm);
  const running = createHash(algorithm);
  return { update: (bytes) => running.update(bytes), digest: () => running.digest("hex") };
}

/** zlib's CRC-32 uses the instructions of the processor. */
class NativeCrc32 implements RunningChecksum {
  #value = 0;

  update(bytes: Uint8Array): void {
    this.#value = crc32(bytes, this.#value);
  }

  digest(): string {
    return this.#value.toString(16).padStart(8, "0");
  }
}
