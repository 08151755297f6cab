/**
 * Removes the files of a bucket that no row names and whose run has ended, or that a row named before
 * (`contents.ts`).
 *
 * A file is garbage only if the database that could name it is here. When a database is lost, or
 * replaced by another, its rows are gone but the files are not, and a restored backup would name
 * them again. So the folder of the files says to which database they belong: before the first
 * commit that names a file is acknowledged, the bucket writes a mark, an empty file with the
 * database's id in its name. With the mark of another database in the folder nothing is removed,
 * at this start and at every later one, until the files are given up (`ledge store gc --lost`
 * removes the mark) or the database is back.
 *
 * Files that are being written (`node/store-files.ts`) are outside of this rule: no row has ever
 * named them.
 */
import { fileNames, type BlobDirectory } from "../client/blob-directory.ts";
import { databaseMark, isAbandoned, isDatabaseMark } from "../core/content.ts";
import type { Bucket } from "./bucket.ts";

const sweepChunk = 1000;

interface CollectedBucket {
  readonly bucketName: string;
  readonly bucket: () => Bucket;
  readonly blobs: BlobDirectory;
  readonly runs: Fetcher;
  readonly removeFiles: (names: readonly string[]) => Promise<void>;
  /** The file of the database, and the folder of the files, for messages. */
  readonly databasePath: string;
  readonly blobsPath: string;
}

export class GarbageCollector {
  readonly #collected: CollectedBucket;
  isMarked = false;
  #marking: Promise<void> | undefined;

  constructor(collected: CollectedBucket) {
    this.#collected = collected;
  }

  /**
   * Writes the mark of the database into the folder of the files. A mark that cannot be written
   * fails no operation that is committed; the next operation tries again.
   */
  mark(): Promise<void> {
    return (this.#marking ??= this.#writeMark().finally(() => (this.#marking = undefined)));
  }

  async #writeMark(): Promise<void> {
    const { bucketName, blobs, bucket } = this.#collected;
    try {
      await blobs.write(databaseMark(bucket().databaseId), new Uint8Array(0));
      this.isMarked = true;
    } catch (error) {
      console.error(`Cannot mark the files of "${bucketName}":`, error);
    }
  }

  /** Removes the mark: the database is about to be replaced, and names no file. */
  async unmark(): Promise<void> {
    const { blobs, bucket } = this.#collected;
    this.isMarked = false;
    await blobs.remove(databaseMark(bucket().databaseId));
  }

  async collect(): Promise<number> {
    const { blobs, runs, bucket } = this.#collected;
    const released = new Set(bucket().releasedFiles.names());
    // The order matters: see `core/content.ts`.
    const files = await blobs.fileNames();
    const activeRuns = await fileNames(runs, "http://runs/");
    // Without the record of this run, its files look like files of an ended run.
    if (activeRuns.length === 0) return 0;
    const ownMark = databaseMark(bucket().databaseId);
    if (files.includes(ownMark)) this.isMarked = true;
    else if (!this.isMarked && bucket().contents.namesFiles()) await this.mark();
    const abandoned = files.filter(
      (fileName) => isAbandoned(fileName, activeRuns) || released.has(fileName),
    );
    const foreignMarks = files.filter((name) => isDatabaseMark(name) && name !== ownMark);
    if (foreignMarks.length > 0) return this.#keep(abandoned, foreignMarks);
    let removed = 0;
    for (const garbage of this.#unreferenced(abandoned)) {
      await this.#collected.removeFiles(garbage);
      removed += garbage.length;
      // Calls of scripts are executed between the chunks.
      await scheduler.wait(0);
    }
    const present = new Set(files);
    bucket().releasedFiles.confirmRemoved([...released].filter((name) => !present.has(name)));
    return removed;
  }

  /** Keeps the files that belong to another database, and says so. */
  async #keep(abandoned: readonly string[], foreignMarks: readonly string[]): Promise<number> {
    const { bucketName, blobs, databasePath, blobsPath } = this.#collected;
    let count = 0;
    for (const files of this.#unreferenced(abandoned)) {
      count += files.length;
      await scheduler.wait(0);
    }
    if (count === 0) {
      await Promise.all(foreignMarks.map((name) => blobs.remove(name)));
      return 0;
    }
    console.warn(
      `The database of bucket "${bucketName}" is not the one that names ${count} of the files in ` +
        `${blobsPath}: it was lost or replaced. The files are kept. To recover their objects, stop ` +
        `the processes that use the store and restore ${databasePath} from a backup. To give the ` +
        `files up, run "ledge store gc --lost".`,
    );
    return 0;
  }

  /** Those of the files to which no row refers, in chunks. */
  *#unreferenced(files: readonly string[]): Generator<string[]> {
    for (let start = 0; start < files.length; start += sweepChunk) {
      yield this.#collected.bucket().contents.unreferenced(files.slice(start, start + sweepChunk));
    }
  }
}
