/**
 * One database of the runtime, as it was at some time, and the way back.
 *
 * SQLite appends what a transaction writes to the log (`-wal`), and moves it into the database file
 * later: when the log has 1,000 pages, and when the last connection is closed. Most tests write
 * less, so the database file stays the same, and the way back is to cut the log where it ended. This
 * takes the same time for a large database as for a small one. When the database file has changed,
 * the files are copied back.
 *
 * A database is cut or copied only while no connection is open. The runtime closes all databases
 * when its objects are aborted. SQLite would then move the log into the database file, but not if
 * the file has another name than when it was opened. So `setAside` renames an open database before
 * the objects are aborted.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";

/** The state of a file: another one after each change. `null` for a file that does not exist. */
export type FileState = string | null;

export function fileState(path: string): FileState {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

/** Of the names of files that were set aside. */
export const asideEnding = "-aside";

export class DatabaseFiles {
  readonly path: string;
  readonly log: string;
  readonly #index: string;

  constructor(path: string) {
    this.path = path;
    this.log = `${path}-wal`;
    this.#index = `${path}-shm`;
  }

  /** Whether the runtime has the database open: a database that was closed has no index. */
  get isOpen(): boolean {
    return fileState(this.#index) !== null;
  }

  /** Gives the files of an open database other names. */
  setAside(): void {
    for (const path of this.#paths) {
      if (fileState(path) !== null) renameSync(path, path + asideEnding);
    }
  }

  /**
   * After `setAside`, when the database is closed.
   *
   * @returns whether the runtime has opened a database of this name meanwhile: then the object has
   *   begun anew, and its database was removed
   */
  bringBack(): boolean {
    if (fileState(this.path + asideEnding) === null) return false;
    const wasOpened = this.isOpen;
    const bytes = this.#neededLogBytes(asideEnding);
    for (const path of this.#paths) {
      rmSync(path, { force: true });
      if (fileState(path + asideEnding) !== null) renameSync(path + asideEnding, path);
    }
    // Without an index, SQLite reads the whole log when it opens the database.
    if (sizeOf(this.log) > bytes) truncateSync(this.log, bytes);
    rmSync(this.#index, { force: true });
    return wasOpened;
  }

  remove(): void {
    for (const path of this.#paths) rmSync(path, { force: true });
  }

  /** How much of the log belongs to the content. */
  get logBytes(): number {
    return this.isOpen ? this.#neededLogBytes("") : sizeOf(this.log);
  }

  /** The salts of the log, which are others when the log begins anew. */
  get logSalts(): string {
    return readStart(this.log, 32).toString("hex", 16, 24);
  }

  get #paths(): string[] {
    return [this.path, this.log, this.#index];
  }

  #neededLogBytes(ending: string): number {
    return neededLogBytes(readStart(this.#index + ending, walIndexBytes));
  }
}

export class SavedDatabase {
  readonly #files: DatabaseFiles;
  readonly #copy: string;
  readonly #logCopy: string | null;
  readonly #logBytes: number;
  readonly #logSalts: string;
  #main: FileState;
  #log: FileState;

  /** @param before the database when it was saved last: what is the same is not copied again */
  constructor(files: DatabaseFiles, folder: SaveFolder, before: SavedDatabase | undefined) {
    this.#files = files;
    this.#main = fileState(files.path);
    this.#log = fileState(files.log);
    this.#logBytes = files.logBytes;
    this.#logSalts = this.#logBytes === 0 ? "" : files.logSalts;
    this.#copy =
      before !== undefined && before.#main === this.#main ? before.#copy : folder.copy(files.path);
    this.#logCopy = this.#logBytes === 0 ? null : folder.copy(files.log);
  }

  get copies(): string[] {
    return this.#logCopy === null ? [this.#copy] : [this.#copy, this.#logCopy];
  }

  get isUnchanged(): boolean {
    return this.#main === fileState(this.#files.path) && this.#log === fileState(this.#files.log);
  }

  /** Restores the content. No connection is open, and the database is not set aside. */
  restore(): void {
    if (this.isUnchanged) return;
    const files = this.#files;
    if (this.#main === fileState(files.path) && this.#canCutLog()) {
      if (fileState(files.log) !== null) truncateSync(files.log, this.#logBytes);
    } else {
      files.remove();
      copyFile(this.#copy, files.path);
      if (this.#logCopy !== null) {
        copyFile(this.#logCopy, files.log);
        truncateSync(files.log, this.#logBytes);
      }
      this.#main = fileState(files.path);
    }
    this.#log = fileState(files.log);
  }

  #canCutLog(): boolean {
    return this.#logBytes === 0 || this.#files.logSalts === this.#logSalts;
  }
}

/** The folder with the copies of a runtime's files. */
export class SaveFolder {
  readonly #path: string;
  #count = 0;

  constructor(path: string) {
    mkdirSync(path, { recursive: true });
    this.#path = path;
  }

  /** Returns the path of the copy. */
  copy(path: string): string {
    return copyFile(path, this.#nextPath());
  }

  /** For a file that never changes. */
  link(path: string): string {
    return linkFile(path, this.#nextPath());
  }

  keep(copies: ReadonlySet<string>): void {
    for (const name of readdirSync(this.#path)) {
      const path = join(this.#path, name);
      if (!copies.has(path)) rmSync(path);
    }
  }

  #nextPath(): string {
    return join(this.#path, String(++this.#count));
  }
}

function copyFile(from: string, to: string): string {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  return to;
}

/** A copy of a file that never changes: another name for the file, where the disk has such names. */
export function linkFile(from: string, to: string): string {
  try {
    linkSync(from, to);
    return to;
  } catch {
    return copyFile(from, to);
  }
}

/**
 * The length of both headers of the index of SQLite's write-ahead log, which is the file `-shm` beside a database
 * in use: https://sqlite.org/walformat.html#the_wal_index_file_format
 */
const walIndexBytes = 136;

const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/**
 * How much of the log a reader needs beside the database: up to the last frame that is committed.
 * The log may be longer, and what follows is overwritten by the next transaction.
 *
 * @param index the start of the file; SQLite writes numbers in the order of the machine
 * @returns 0 when the database has the content of all frames, or when the log is not in use
 */
function neededLogBytes(index: Buffer): number {
  if (index.length < walIndexBytes) return 0;
  const isInitialized = index.readUInt8(12) === 1;
  const pageBytes = index.readUInt16LE(14);
  const lastFrame = index.readUInt32LE(16);
  const framesInDatabase = index.readUInt32LE(96);
  if (!isInitialized || framesInDatabase >= lastFrame) return 0;
  // A page of 65,536 bytes does not fit into the field, and is written as 1.
  const frameBytes = frameHeaderBytes + (pageBytes === 1 ? 65_536 : pageBytes);
  return logHeaderBytes + lastFrame * frameBytes;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The first bytes of a file: fewer if the file is shorter or does not exist. */
function readStart(path: string, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let file;
  try {
    file = openSync(path, "r");
  } catch {
    return buffer.subarray(0, 0);
  }
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, 0));
  } finally {
    closeSync(file);
  }
}
