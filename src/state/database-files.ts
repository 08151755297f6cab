/**
 * The files of one database of a runtime: how they are copied and brought back.
 *
 * SQLite appends what a transaction writes to the log (`-wal`), and moves it into the database file
 * later: when the log has 1,000 pages, and when the last connection is closed. Most changes are
 * smaller, so the database file stays the same, and the way back is to cut the log where it ended. This
 * takes the same time for a large database as for a small one. When the database file has changed,
 * the files are copied back.
 *
 * A database is cut or copied only while no connection is open, or while its process is frozen and is then
 * killed. The runtime closes all databases when its objects are aborted. SQLite would then move the log into
 * the database file, but not if the file has another name than when it was opened. So `setAside` renames an
 * open database before the objects are aborted.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { asideEnding } from "./disk.ts";

/** The state of a file: another one after each change. `null` for a file that does not exist. */
export type FileState = string | null;

export function fileState(path: string): FileState {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

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

  /** Of the index, in decimal digits; `null` for a database that is closed. */
  get indexInode(): string | null {
    return fileState(this.#index)?.split(" ")[0] ?? null;
  }

  /** Gives the files of an open database other names, first the database file (`bringBack`). */
  setAside(): void {
    for (const path of this.#paths.toReversed()) {
      if (fileState(path) !== null) renameSync(path, path + asideEnding);
    }
  }

  /**
   * After `setAside`, when the database is closed. Also after a kill in the middle of `setAside` or of this method: the
   * database file is set aside first and comes back last, and without it, the files beside it are those of the database.
   *
   * @returns whether the runtime has opened a database of this name meanwhile: then the object has
   *   begun anew, and its database was removed
   */
  bringBack(): boolean {
    if (fileState(this.path + asideEnding) === null) return false;
    const wasOpened = this.isOpen;
    if (fileState(this.path) !== null) this.remove();
    for (const path of this.#paths) {
      if (fileState(path + asideEnding) !== null) renameSync(path + asideEnding, path);
    }
    this.cutLog(this.logBytes);
    return wasOpened;
  }

  /** Without an index, SQLite reads the whole log when it opens the database. */
  cutLog(bytes: number): void {
    if (sizeOf(this.log) > bytes) truncateSync(this.log, bytes);
    rmSync(this.#index, { force: true });
  }

  remove(): void {
    for (const path of this.#paths) rmSync(path, { force: true });
  }

  /** How much of the log belongs to the content. */
  get logBytes(): number {
    const bytes = sizeOf(this.log);
    return Math.min(bytes, neededLogBytes(this.#readIndex()) ?? bytes);
  }

  /**
   * Identifies the first bytes of the log: the header of their last frame has the salts of the log, which are others
   * when the log begins anew, and the checksum of all frames so far.
   *
   * @param bytes as `logBytes`; with 0, the mark is the same for all logs
   * @returns a mark that no other log has when the index does not tell where the last frame ends
   */
  logMark(bytes: number): string {
    if (this.isOpen && neededLogBytes(this.#readIndex()) === null) return randomUUID();
    const pageBytes = readBytes(this.log, 0, logHeaderBytes).toString("hex", 8, 12);
    const last = bytes - frameHeaderBytes - Number(`0x${pageBytes}`);
    return last > 0 ? readBytes(this.log, last, frameHeaderBytes).toString("hex") : "";
  }

  /** The database file is the last. */
  get #paths(): string[] {
    return [this.log, this.#index, this.path];
  }

  #readIndex(): Buffer {
    return readBytes(this.#index, 0, walIndexBytes);
  }
}

/** A copy of a database, and how the files were when they were copied. */
export interface DatabaseCopy {
  readonly copy: string;
  /** `null` when the database has the content of the log. */
  readonly logCopy: string | null;
  readonly logBytes: number;
  readonly logMark: string;
  readonly main: FileState;
}

/** Restores the content of a copy. No connection is open, and the database is not set aside. */
export function restoreDatabase(files: DatabaseFiles, saved: DatabaseCopy): void {
  const { copy, logCopy, logBytes, logMark, main } = saved;
  const isSame = main !== null && main === fileState(files.path);
  if (!isSame) {
    files.remove();
    copyFile(copy, files.path);
  }
  // A log that begins with the copy is cut.
  if (logCopy !== null && !(isSame && files.logMark(logBytes) === logMark)) {
    rmSync(files.log, { force: true });
    copyFile(logCopy, files.log);
  }
  files.cutLog(logBytes);
}

export function copyFile(from: string, to: string): string {
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

/** Of one of the two equal headers at the start of the index. */
const indexHeaderBytes = 48;

/**
 * How much of the log a reader needs beside the database: up to the last frame that is committed.
 * The log may be longer, and what follows is overwritten by the next transaction.
 *
 * @param index the start of the file; SQLite writes numbers in the order of the machine
 * @returns 0 when the database has the content of all frames; `null` when the index does not tell: then the
 *   whole log is needed, of which SQLite ignores what is not committed
 */
export function neededLogBytes(index: Buffer): number | null {
  if (index.length < walIndexBytes) return null;
  const isInitialized = index.readUInt8(12) === 1;
  // SQLite writes one header after the other, and a process can be stopped between the two.
  const isWhole = index
    .subarray(0, indexHeaderBytes)
    .equals(index.subarray(indexHeaderBytes, 2 * indexHeaderBytes));
  if (!isInitialized || !isWhole) return null;
  const pageBytes = index.readUInt16LE(14);
  const lastFrame = index.readUInt32LE(16);
  const framesInDatabase = index.readUInt32LE(96);
  if (framesInDatabase >= lastFrame) return 0;
  // A page of 65,536 bytes does not fit into the field, and is written as 1.
  const frameBytes = frameHeaderBytes + (pageBytes === 1 ? 65_536 : pageBytes);
  return logHeaderBytes + lastFrame * frameBytes;
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Fewer bytes if the file is shorter or does not exist. */
function readBytes(path: string, start: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let file;
  try {
    file = openSync(path, "r");
  } catch {
    return buffer.subarray(0, 0);
  }
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, start));
  } finally {
    closeSync(file);
  }
}
