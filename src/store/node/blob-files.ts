/**
 * The content of an object, read by a process of the same user from the files of the store.
 *
 * The bucket says which files hold the content. The file of a committed object never changes, and a
 * removed file stays readable through an open handle. So all files are opened before the first byte
 * is read, and a reader gets the version that it has opened, even when the object is replaced or
 * deleted meanwhile. Files beyond the limit of the process are opened when the reader reaches them. If such a
 * file was removed meanwhile, the read fails: a reader never gets bytes of two versions.
 */
import { readFileSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { BlobDamagedError } from "../core/blob-damage.ts";
import { bucketFolder } from "../core/blob-name.ts";
import type { ContentSlice } from "../core/operations.ts";
import { ReusedMemory } from "./reused-memory.ts";

type BlobSlice = Extract<ContentSlice, { blob: string }>;

/** Large reads: each costs a turn of the event loop and a message to the thread that reads. */
const readBytes = 1024 * 1024;
/** Of all readers in this process. */
const readMemory = new ReusedMemory(readBytes, 8);
/** For other files and connections of the process. */
const otherHandles = 512;
/** Of all readers in this process. */
let handlesOpen = 0;

export class BlobFiles {
  readonly #folder: string;
  readonly #slices: readonly ContentSlice[];
  /** By the index of the slice. */
  readonly #handles = new Map<number, FileHandle>();

  /** @param storeFolder the folder of the store, with the folder `blobs` */
  constructor(storeFolder: string, bucketName: string, slices: readonly ContentSlice[]) {
    this.#folder = join(storeFolder, "blobs", bucketFolder(bucketName));
    this.#slices = slices;
  }

  /** The name of the file, if the content is one whole file. */
  get wholeBlob(): string | null {
    const [first, second] = this.#slices;
    if (first === undefined || second !== undefined || !("blob" in first)) return null;
    return first.length === first.blobSize ? first.blob : null;
  }

  /** @throws BlobDamagedError when a file is missing or has another size; then no file stays open */
  async open(): Promise<void> {
    try {
      for (const [index, slice] of this.#slices.entries()) {
        if (!("blob" in slice)) continue;
        if (handlesOpen >= handlesMax()) return;
        this.#handles.set(index, await this.#open(slice));
      }
    } catch (error) {
      await this.close();
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

  async close(): Promise<void> {
    const handles = [...this.#handles.values()];
    this.#handles.clear();
    await Promise.all(handles.map(closeHandle));
  }

  /** Reads ahead: the file is read while the caller works on the chunk before. */
  async *#read(slice: BlobSlice, index: number, memory: TwoBuffers): AsyncGenerator<Uint8Array> {
    const handle = this.#handles.get(index) ?? (await this.#open(slice));
    this.#handles.delete(index);
    const end = slice.offset + slice.length;
    let position = slice.offset;
    const read = async (): Promise<Uint8Array> => {
      const buffer = memory.next();
      const length = Math.min(readBytes, end - position);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      if (bytesRead === 0) throw damaged(slice, position);
      position += bytesRead;
      return buffer.subarray(0, bytesRead);
    };
    let next = read();
    try {
      for (;;) {
        const chunk = await next;
        if (position === end) return yield chunk;
        next = read();
        // A slow caller asks for the chunk, and gets the error, long after the read has failed. A
        // caller that has ended never asks.
        next.catch(() => {});
        yield chunk;
      }
    } finally {
      // `closeHandle()` waits for a read.
      await closeHandle(handle);
    }
  }

  async #open(slice: BlobSlice): Promise<FileHandle> {
    let handle;
    try {
      handle = await open(join(this.#folder, slice.blob));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw damaged(slice, null);
    }
    handlesOpen++;
    const { size } = await handle.stat();
    if (size === slice.blobSize) return handle;
    await closeHandle(handle);
    throw damaged(slice, size);
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

/** How many files readers may keep open. Node raises the limit of its process to what is allowed. */
function handlesMax(): number {
  return (knownMax ??= Math.max(openFilesMax() - otherHandles, otherHandles));
}

/** Many systems allow 1024 open files. Only Linux tells. */
function openFilesMax(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? 1024);
  } catch {
    return 1024;
  }
}

/** The bytes of content that came with the answer; `null` when some of it is in files. */
export function joinBytes(content: readonly ContentSlice[]): Uint8Array | null {
  const slices = content.filter((slice) => "bytes" in slice);
  if (slices.length < content.length) return null;
  // A frame decodes bytes to `Uint8Array`.
  return Buffer.concat(slices.map(({ bytes }) => bytes as Uint8Array));
}

async function closeHandle(handle: FileHandle): Promise<void> {
  handlesOpen--;
  await handle.close();
}

function damaged({ blob, blobSize }: BlobSlice, actualBytes: number | null): BlobDamagedError {
  return new BlobDamagedError({ blob, expectedBytes: blobSize, actualBytes });
}
