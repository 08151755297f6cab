/**
 * The files of one bucket, through workerd's disk service.
 *
 * The service writes to a temporary file and renames it, so a blob is complete or absent as long
 * as the machine keeps running. The service does not sync: after a power failure a blob can be
 * short or missing although its row exists, so readers compare sizes.
 */
import { BlobDamagedError } from "../core/blob-damage.ts";
import { bucketFolder } from "../core/blob-name.ts";
import type { ContentSlice } from "../core/operations.ts";

type BlobSlice = Extract<ContentSlice, { blob: string }>;

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

/** Each removal is a request to the disk service, which holds memory until its answer. */
const removalsAtOnce = 64;

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

  /** Removes a file, if it exists. */
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
    const removeOne = async (name: string): Promise<void> => {
      await this.remove(name);
      removed.push(name);
    };
    for (let start = 0; start < names.length; start += removalsAtOnce) {
      const some = names.slice(start, start + removalsAtOnce);
      await Promise.all(some.map((name) => removeOne(name).catch(onFailure)));
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
