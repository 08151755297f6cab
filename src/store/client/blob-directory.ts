/**
 * The files of one bucket, through workerd's disk service.
 *
 * The service writes to a temporary file and renames it, so a blob is complete or absent as long
 * as the machine keeps running. The service does not sync: the bucket makes a blob durable before a row
 * names it (`bucket/arriving-files.ts`), unless its setting is `durability = "process"`. Readers
 * compare sizes.
 */
import { BlobDamagedError, bucketFolder } from "../core/content.ts";
import type { ContentSlice } from "../core/operations.ts";
import { encodeFrame, endOfStreamMark } from "./message.ts";
import { encodeHex } from "../../base/hex.ts";
import { hashAlgorithms, type HashAlgorithm } from "../core/checksum.ts";

type BlobSlice = Omit<Extract<ContentSlice, { blob: string }>, "md5">;

/** The disk has not taken a blob. workerd writes the reason to its log only. */
export class BlobNotWrittenError extends Error {
  override readonly name = "BlobNotWrittenError";
  /** The size of the blob, as far as it is known */
  readonly bytes: number;

  constructor(blob: string, bytes: number, cause: unknown) {
    super(`Cannot write blob "${blob}": ${(cause as Error).message}`, { cause });
    this.bytes = bytes;
  }
}

/** The disk service holds memory for each request until its answer. */
const requestsAtOnce = 64;

export class BlobDirectory {
  readonly bucketName: string;
  readonly #disk: Fetcher;
  readonly #folder: string;

  constructor(disk: Fetcher, bucketName: string) {
    this.bucketName = bucketName;
    this.#disk = disk;
    this.#folder = `http://blobs/${encodeURIComponent(bucketFolder(bucketName))}/`;
  }

  /** Resolves when the blob has its name. When `body` fails, rejects and leaves no file. */
  async write(blob: string, body: ReadableStream | Uint8Array): Promise<void> {
    const response = await this.#disk.fetch(this.#folder + blob, { method: "PUT", body });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the disk service answered ${response.status}`);
  }

  /** @throws BlobDamagedError when the file is not `blobSize` bytes long */
  async read({ blob, blobSize, offset, length }: BlobSlice): Promise<ReadableStream> {
    const headers = new Headers();
    if (length < blobSize) headers.set("range", `bytes=${offset}-${offset + length - 1}`);
    const response = await this.#disk.fetch(this.#folder + blob, { headers });
    const actualSize = fileSize(response);
    if (actualSize !== blobSize || response.body === null) {
      await response.body?.cancel();
      throw new BlobDamagedError({ blob, expectedBytes: blobSize, actualBytes: actualSize });
    }
    return response.body;
  }

  /** The text of a small file; `null` when it does not exist. */
  async readText(fileName: string): Promise<string | null> {
    const response = await this.#disk.fetch(this.#folder + encodeURIComponent(fileName));
    const text = await response.text();
    return response.ok ? text : null;
  }

  /** The size of each file; `null` for a file that does not exist. */
  async sizes(names: readonly string[]): Promise<(number | null)[]> {
    const sizes: (number | null)[] = [];
    for (let start = 0; start < names.length; start += requestsAtOnce) {
      const some = names.slice(start, start + requestsAtOnce);
      sizes.push(...(await Promise.all(some.map((name) => this.#size(name)))));
    }
    return sizes;
  }

  async #size(blob: string): Promise<number | null> {
    return fileSize(await this.#disk.fetch(this.#folder + blob, { method: "HEAD" }));
  }

  async remove(fileName: string): Promise<void> {
    const response = await this.#disk.fetch(this.#folder + encodeURIComponent(fileName), {
      method: "DELETE",
    });
    await response.body?.cancel();
    if (!response.ok && response.status !== 404) {
      throw new Error(`Cannot remove blob "${fileName}": ${response.status}`);
    }
  }

  /** Removes files, and reports the failures. Returns the names of the files that are gone. */
  async removeAll(
    names: readonly string[],
    onFailure: (error: unknown) => void,
  ): Promise<string[]> {
    const removed: string[] = [];
    for (let start = 0; start < names.length; start += requestsAtOnce) {
      const some = names.slice(start, start + requestsAtOnce);
      const removals = some.map((name) =>
        this.remove(name).then(() => removed.push(name), onFailure),
      );
      await Promise.all(removals);
    }
    return removed;
  }

  fileNames(): Promise<string[]> {
    return fileNames(this.#disk, this.#folder);
  }
}

/** The names of the files in a folder. The service does not list files that are being written. */
export async function fileNames(disk: Fetcher, folder: string): Promise<string[]> {
  const response = await disk.fetch(folder);
  if (response.status === 404) {
    await response.body?.cancel();
    return [];
  }
  const entries = await response.json<{ name: string; type: string }[]>();
  return entries.filter((entry) => entry.type === "file").map((entry) => entry.name);
}

/** The size of the whole file, or `null` when the file does not exist. */
function fileSize(response: Response): number | null {
  switch (response.status) {
    case 200:
      return Number(response.headers.get("content-length"));
    case 206:
    case 416:
      return Number(response.headers.get("content-range")?.split("/")[1]);
    case 404:
      return null;
    default:
      throw new Error(`Cannot read a blob: the disk service answered ${response.status}`);
  }
}

export interface JoinRequest {
  readonly bucketName: string;
  readonly content: readonly ContentSlice[];
}

export function bytesAtHand(content: readonly ContentSlice[]): ArrayBuffer | null {
  const [first, second] = content;
  if (first === undefined) return new ArrayBuffer(0);
  return second === undefined && "bytes" in first ? ownBuffer(first.bytes) : null;
}

/**
 * Opens content that has to be fetched. The stream has a known length, so a script can store it or
 * respond with it.
 *
 * @param joiner the service that joins several slices (`bucket/content-joiner.ts`)
 * @throws BlobDamagedError when a file is missing or has another size
 */
export async function openContent(
  blobs: BlobDirectory,
  joiner: Fetcher,
  content: readonly ContentSlice[],
): Promise<ReadableStream> {
  const [first, second] = content;
  if (first !== undefined && second === undefined) return openSlice(blobs, first);

  const response = await joiner.fetch("http://content/", {
    method: "POST",
    body: encodeFrame({ bucketName: blobs.bucketName, content } satisfies JoinRequest),
  });
  if (response.ok) return response.body as ReadableStream;
  throw new BlobDamagedError(await response.json());
}

export async function openSlice(
  blobs: BlobDirectory,
  slice: ContentSlice,
): Promise<ReadableStream> {
  return "blob" in slice ? blobs.read(slice) : (new Response(slice.bytes).body as ReadableStream);
}

/** The bytes as a buffer that holds nothing else. */
export function ownBuffer(bytes: ArrayBuffer | Uint8Array): ArrayBuffer {
  if (bytes instanceof ArrayBuffer) return bytes;
  const { buffer, byteOffset, byteLength } = bytes;
  const whole = byteLength === buffer.byteLength;
  return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer;
}

/**
 * Reads every file of `content` whole, also a file of which only a part is wanted: the hash covers
 * the whole file. The bytes pass through one buffer.
 *
 * @throws BlobDamagedError for a file with another hash, or with another size
 */
export async function verifyContent(
  blobs: BlobDirectory,
  content: readonly ContentSlice[],
): Promise<void> {
  for (const slice of content) {
    // The bucket has verified content in the database.
    if (!("blob" in slice)) continue;
    const { blob, blobSize, md5 } = slice;
    const file = await blobs.read({ blob, blobSize, offset: 0, length: blobSize });
    const actualMd5 = await hashOf(file);
    if (actualMd5 === md5) continue;
    throw new BlobDamagedError({
      blob,
      expectedBytes: blobSize,
      actualBytes: blobSize,
      hashes: { expected: md5, actual: actualMd5 },
    });
  }
}

async function hashOf(file: ReadableStream): Promise<string> {
  const source = new StreamSource(file);
  const hash = new RunningHash("md5");
  let bytes = await source.read(new ArrayBuffer(readBytes));
  while (bytes.length > 0) {
    await hash.write(bytes);
    bytes = await source.read(bytes.buffer);
  }
  return hash.end();
}

/** Hashing small chunks takes longer, and `pipeTo` passes on the small chunks of the disk. */
export const readBytes = 256 * 1024;

export class RunningHash {
  readonly algorithm: HashAlgorithm;
  readonly #stream: DigestStream;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;

  constructor(algorithm: HashAlgorithm) {
    this.algorithm = algorithm;
    this.#stream = new crypto.DigestStream(hashAlgorithms[algorithm].name);
    // The digest of a failed upload is not awaited.
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

/** Reads a stream in large chunks, into memory that is reused. */

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
