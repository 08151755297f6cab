/**
 * The content of an object, read by a process of the same user from the files of the store.
 *
 * The bucket says which files hold the content. The file of a committed object never changes, and a
 * removed file stays readable through an open handle. So all files are opened before the first byte
 * is read, and a reader gets the version that it has opened, even when the object is replaced or
 * deleted meanwhile. Files beyond the limit of the process are opened when the reader reaches them. If such a
 * file was removed meanwhile, the read fails: a reader never gets bytes of two versions.
 */
import {
  constants,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  read,
  readFileSync,
  readSync,
} from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { BlobDamagedError } from "../core/content.ts";
import type { ContentSlice } from "../core/operations.ts";
import { ReusedMemory } from "./written-content.ts";

type BlobSlice = Extract<ContentSlice, { blob: string }>;

/** Large reads: each costs a turn of the event loop and a message to the thread that reads. */
const readBytes = 1024 * 1024;
/** Of content that is not longer than one read. A piece fits into the cache of the processor. */
const pieceBytes = 512 * 1024;
/** Of all readers in this process. */
const readMemory = new ReusedMemory(readBytes, 8);
/** For other files and connections of the process. */
const otherFiles = 512;
/** After so many files, other work of the process has a turn. */
const filesPerTurn = 64;
/** Of all readers in this process. */
let filesOpen = 0;

export class BlobFiles {
  readonly #folder: string;
  readonly #slices: readonly ContentSlice[];
  readonly #opened = new Map<number, OpenFile>();

  constructor(folder: string, slices: readonly ContentSlice[]) {
    this.#folder = folder;
    this.#slices = slices;
  }

  /** The path of the file, if the content is one whole file. */
  get wholePath(): string | null {
    const [first, second] = this.#slices;
    if (first === undefined || second !== undefined || !("blob" in first)) return null;
    return first.length === first.blobSize ? join(this.#folder, first.blob) : null;
  }

  /** @throws BlobDamagedError when a file is missing or has another size; then no file stays open */
  async open(): Promise<void> {
    try {
      for (const [index, slice] of this.#slices.entries()) {
        if (!("blob" in slice)) continue;
        if (filesOpen >= filesMax()) return;
        this.#opened.set(index, this.#open(slice));
        if (index % filesPerTurn === filesPerTurn - 1) await setImmediate();
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /**
   * The content. A chunk is valid until the next one is requested, because its memory is used again.
   * Each file is closed when it has been read.
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const memory = new TwoBuffers();
    try {
      for (const [index, slice] of this.#slices.entries()) {
        if ("blob" in slice) yield* this.#read(slice, index, memory);
        // A frame decodes bytes to `Uint8Array`.
        else yield slice.bytes as Uint8Array;
      }
    } finally {
      memory.giveBack();
    }
  }

  close(): void {
    for (const file of this.#opened.values()) file.close();
    this.#opened.clear();
  }

  async *#read(slice: BlobSlice, index: number, memory: TwoBuffers): AsyncGenerator<Uint8Array> {
    const file = this.#opened.get(index) ?? this.#open(slice);
    this.#opened.set(index, file);
    try {
      const isShort = slice.length <= readBytes;
      yield* isShort ? readAtOnce(slice, file, memory) : readAhead(slice, file, memory);
    } finally {
      file.close();
      this.#opened.delete(index);
    }
  }

  #open(slice: BlobSlice): OpenFile {
    let file;
    try {
      file = new OpenFile(join(this.#folder, slice.blob));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw damaged(slice, null);
    }
    const { size } = file;
    if (size === slice.blobSize) return file;
    file.close();
    throw damaged(slice, size);
  }
}

/**
 * Short content is most often in the memory of the system, and is read in this thread. The client
 * receives one piece while the next is read.
 */
function* readAtOnce(slice: BlobSlice, file: OpenFile, memory: TwoBuffers): Generator<Uint8Array> {
  const buffer = memory.next();
  const end = slice.offset + slice.length;
  for (let position = slice.offset; position < end;) {
    const count = file.readAtOnce(buffer, Math.min(pieceBytes, end - position), position);
    if (count === 0) throw damaged(slice, position);
    position += count;
    yield buffer.subarray(0, count);
  }
}

/** Long content: the file is read while the caller works on the chunk before. */
async function* readAhead(
  slice: BlobSlice,
  file: OpenFile,
  memory: TwoBuffers,
): AsyncGenerator<Uint8Array> {
  const end = slice.offset + slice.length;
  let position = slice.offset;
  const readNext = async (): Promise<Uint8Array> => {
    const buffer = memory.next();
    const count = await file.read(buffer, Math.min(readBytes, end - position), position);
    if (count === 0) throw damaged(slice, position);
    position += count;
    return buffer.subarray(0, count);
  };
  let next = readNext();
  try {
    for (;;) {
      const chunk = await next;
      if (position === end) return yield chunk;
      next = readNext();
      // A slow caller asks for the chunk, and gets the error, long after the read has failed. A
      // caller that has ended never asks.
      next.catch(() => {});
      yield chunk;
    }
  } finally {
    // The memory is used again.
    await next.catch(() => {});
  }
}

/**
 * An open file of the store. Short calls take less time than a message to another thread, so they
 * are made in this thread.
 */
class OpenFile {
  readonly #descriptor: number;
  #isReading = false;
  #isClosed = false;

  constructor(path: string) {
    this.#descriptor = openSync(path, "r");
    filesOpen++;
  }

  get size(): number {
    return fstatSync(this.#descriptor).size;
  }

  readAtOnce(buffer: Buffer, length: number, position: number): number {
    return readSync(this.#descriptor, buffer, 0, length, position);
  }

  read(buffer: Buffer, length: number, position: number): Promise<number> {
    this.#isReading = true;
    return new Promise((resolve, reject) => {
      read(this.#descriptor, buffer, 0, length, position, (error, count) => {
        this.#isReading = false;
        if (this.#isClosed) this.#release();
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }

  /** After the read in progress: the system gives the number of a closed file to the next file. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isReading) this.#release();
  }

  #release(): void {
    filesOpen--;
    closeSync(this.#descriptor);
  }
}

/** The memory of one reader: a buffer that the caller reads, and one that is filled meanwhile. */
class TwoBuffers {
  readonly #taken: Buffer<ArrayBuffer>[] = [];
  #turn = 1;

  /** The buffer of the chunk before the last one. Short content needs one buffer only. */
  next(): Buffer<ArrayBuffer> {
    this.#turn = 1 - this.#turn;
    return (this.#taken[this.#turn] ??= readMemory.take());
  }

  giveBack(): void {
    for (const buffer of this.#taken) readMemory.giveBack(buffer);
  }
}

let knownMax: number | undefined;

/**
 * How many files readers may keep open. Node raises the limit of its process to what is allowed. Only Linux
 * tells the limit; many systems allow 1024 files.
 */
function filesMax(): number {
  if (knownMax === undefined) {
    const limits = existsSync(limitsPath) ? readFileSync(limitsPath, "utf8") : "";
    const allowed = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 1024);
    knownMax = Math.max(allowed - otherFiles, otherFiles);
  }
  return knownMax;
}

const limitsPath = "/proc/self/limits";

/** The bytes of content that came with the answer; `null` when some of it is in files. */
export function joinBytes(content: readonly ContentSlice[]): Uint8Array | null {
  const slices = content.filter((slice) => "bytes" in slice);
  if (slices.length < content.length) return null;
  // A frame decodes bytes to `Uint8Array`.
  return Buffer.concat(slices.map(({ bytes }) => bytes as Uint8Array));
}

function damaged({ blob, blobSize }: BlobSlice, actualBytes: number | null): BlobDamagedError {
  return new BlobDamagedError({ blob, expectedBytes: blobSize, actualBytes });
}

/**
 * Copies a file: without a read where the file system shares blocks, otherwise in pieces. Node's own copy is
 * one step, and a process that a signal ends would wait until gigabytes are copied.
 */
export async function copyWholeFile(from: string, to: string): Promise<void> {
  try {
    const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
    await copyFile(from, to, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    return;
  } catch (error) {
    if (["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  const source = await open(from);
  try {
    const { mode } = await source.stat();
    const target = await open(to, "wx", mode);
    try {
      const memory = Buffer.allocUnsafe(readBytes);
      for (;;) {
        const { bytesRead } = await source.read(memory, 0, readBytes);
        if (bytesRead === 0) break;
        await target.writeFile(memory.subarray(0, bytesRead));
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
