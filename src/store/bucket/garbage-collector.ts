/**
 * Removes the files of a bucket that no row names and whose run has ended, or that a row named before
 * (`contents.ts`).
 *
 * A file is garbage only if the database that could name it is here. When a database is lost, or
 * replaced by another or by an older copy, its rows are gone but the files are not, and the right
 * database would name them again. So the folder of the files says to which database they belong:
 * before the first commit that names a file is acknowledged, the bucket writes a mark, a file with the
 * database's id in its name. The mark holds the generation of the database, which counts the files
 * that commits have named; the mark follows the database within a tenth of a second. With the mark of
 * another database in the folder, or of a newer generation of this one, nothing is removed, at this
 * start and at every later one, until the files are given up (`ledge store gc --lost` removes the
 * mark) or the database is back.
 *
 * A database that is older than its mark goes on: it is opened, and takes writes. Its generations are
 * not those of the mark, so the first commit that names a file gives the database an id and a mark of
 * its own.
 *
 * Files that are being written (`node/store-files.ts`) are outside of this rule: no row has ever
 * named them.
 */
import { fileNames, type BlobDirectory } from "../client/blob-directory.ts";
import { databaseMark, isAbandoned, isDatabaseMark, isForeignMark } from "../core/content.ts";
import { blobsOf, type Operation } from "../core/operations.ts";
import type { Bucket } from "./bucket.ts";

const sweepChunk = 1000;
/** Between two marks of a bucket that is written to all the time. */
const markMilliseconds = 100;

interface CollectedBucket {
  readonly bucketName: string;
  readonly bucket: () => Bucket;
  readonly blobs: BlobDirectory;
  readonly runs: Fetcher;
  readonly removeFiles: (names: readonly string[]) => Promise<void>;
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** The file of the database, and the folder of the files, for messages. */
  readonly databasePath: string;
  readonly blobsPath: string;
}

export class GarbageCollector {
  readonly #collected: CollectedBucket;
  #isMarked = false;
  /** The newest generation that this instance has written. */
  #markedGeneration = 0;
  #marking: Promise<void> | undefined;
  #isFollowing = false;

  constructor(collected: CollectedBucket) {
    this.#collected = collected;
  }

  /**
   * Whether operations that were executed are acknowledged only after `mark()`. Otherwise the mark
   * follows later.
   */
  needsMark(operations: readonly Operation[]): boolean {
    if (!operations.some((operation) => blobsOf(operation).length > 0)) return false;
    if (this.#isMarked && !this.#isFollowing) this.#collected.waitUntil(this.#follow());
    return !this.#isMarked;
  }

  /** Marks the last commit at once, and those that follow soon by one mark. */
  async #follow(): Promise<void> {
    this.#isFollowing = true;
    try {
      do {
        await this.mark();
        await scheduler.wait(markMilliseconds);
      } while (this.#isMarked && this.#isBehind());
    } finally {
      this.#isFollowing = false;
    }
  }

  #isBehind(): boolean {
    return this.#markedGeneration < this.#collected.bucket().contents.generation();
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
      if (!this.#isMarked && this.#isOlderThan(await this.#readMark())) bucket().renewDatabaseId();
      const generation = bucket().contents.generation();
      const text = new TextEncoder().encode(String(generation));
      // The request waits until earlier writes are durable, so the mark is not ahead of the database.
      await blobs.write(databaseMark(bucket().databaseId), text);
      this.#markedGeneration = generation;
      this.#isMarked = true;
    } catch (error) {
      console.error(`Cannot mark the files of "${bucketName}":`, error);
    }
  }

  #readMark(): Promise<string | null> {
    const { blobs, bucket } = this.#collected;
    return blobs.readText(databaseMark(bucket().databaseId));
  }

  /** Whether the mark is that of a newer state of the database. */
  #isOlderThan(mark: string | null): boolean {
    const { databaseId, openedGeneration } = this.#collected.bucket();
    const generation = Math.max(openedGeneration, this.#markedGeneration);
    const name = databaseMark(databaseId);
    return isForeignMark({ name, text: mark ?? "" }, { databaseId, generation });
  }

  /** Removes the mark: the database is about to be replaced, and names no file. */
  async unmark(): Promise<void> {
    const { blobs, bucket } = this.#collected;
    this.#isMarked = false;
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
    const mark = await this.#readMark();
    const isOlder = this.#isOlderThan(mark);
    const isCurrent = mark === String(bucket().contents.generation());
    if (!isOlder && !isCurrent && bucket().contents.namesFiles()) await this.mark();
    const ownMark = databaseMark(bucket().databaseId);
    const abandoned = files.filter(
      (fileName) => isAbandoned(fileName, activeRuns) || released.has(fileName),
    );
    const foreignMarks = files.filter((name) => isDatabaseMark(name) && name !== ownMark);
    if (isOlder || foreignMarks.length > 0) return this.#keep(abandoned, foreignMarks, isOlder);
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
  async #keep(
    abandoned: readonly string[],
    foreignMarks: readonly string[],
    isOlder: boolean,
  ): Promise<number> {
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
      (isOlder
        ? `The database of bucket "${bucketName}" is older than its files: a newer state of the ` +
          `database names ${count} of the files in ${blobsPath}. The database was replaced by an ` +
          `earlier copy, or has lost its log (-wal). `
        : `The database of bucket "${bucketName}" is not the one that names ${count} of the files in ` +
          `${blobsPath}: it was lost or replaced. `) +
        `The files are kept. To recover their objects, stop the processes that use the store and ` +
        `restore ${isOlder ? "the newer " : ""}${databasePath} from a backup. To give the files up, ` +
        `run "ledge store gc --lost".`,
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
