/**
 * Writes the content of objects and parts from Node: large content goes to a file of the bucket, and
 * the operation that stores it names the file.
 *
 * The process has a run of its own, with a record (`state/runs.ts`), and its id is in the names
 * of its files (`core/content.ts`). While the process lives, the garbage collector leaves these
 * files alone, although no row names them yet. If the process is killed, the owner removes the
 * record, and the files that no row names are garbage.
 */
import { randomBytes } from "node:crypto";
import { constants, copyFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { newRunId, type RunRecords } from "../../state/runs.ts";
import { bucketFolder, makeBlobName } from "../core/content.ts";
import type { Content } from "../core/operations.ts";
import { storeRuns } from "./store-owner.ts";
import { ContentNotWrittenError, writeContent, type WriteOptions } from "./written-content.ts";

/** A whole file of a bucket. */
export interface ContentFile {
  readonly bucketName: string;
  readonly blob: string;
  readonly size: number;
}

export class ContentFiles {
  readonly #storeFolder: string;
  readonly #runs: RunRecords;
  readonly #runId = newRunId();
  #hasRecord = false;

  constructor(storeFolder: string) {
    this.#storeFolder = storeFolder;
    this.#runs = storeRuns(storeFolder);
  }

  /**
   * Writes content. The caller may reuse the memory of a chunk when it is asked for the next. On
   * failure no file is left.
   *
   * @throws StoreError 100100 for content that is too large, ContentNotWrittenError, or the error of
   *   the body or of `verify`
   */
  write(
    bucketName: string,
    body: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<Content> {
    const place = () => ({ folder: this.#folder(bucketName), name: this.#newName() });
    return writeContent(body, place, options);
  }

  /**
   * Copies a whole file into a bucket, without a read where the file system shares blocks. Returns
   * the name of the copy; `null` if the file does not exist any more.
   *
   * @throws ContentNotWrittenError
   */
  async copy(source: ContentFile, bucketName: string): Promise<string | null> {
    const name = this.#newName();
    const path = join(this.#folder(bucketName), name);
    try {
      const from = join(this.#folder(source.bucketName), source.blob);
      await copyFile(from, path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      if ((await stat(path)).size === source.size) return name;
      await rm(path, { force: true });
      return null;
    } catch (error) {
      await rm(path, { force: true });
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw new ContentNotWrittenError(source.size, error as NodeJS.ErrnoException);
    }
  }

  /** Removes the file of content that no operation was sent for. */
  async discard(bucketName: string, content: Content): Promise<void> {
    if ("blob" in content) await rm(join(this.#folder(bucketName), content.blob), { force: true });
  }

  /** Ends the run. Files that no row names are garbage from now on. */
  close(): void {
    if (this.#hasRecord) this.#runs.remove(this.#runId);
    this.#hasRecord = false;
  }

  #folder(bucketName: string): string {
    return join(this.#storeFolder, "blobs", bucketFolder(bucketName));
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
