/**
 * Takes the state of a folder in three steps, of which the second is short:
 *
 *     prepare()   while runtimes run: links the values, and copies what will probably not change
 *     take()      while they are frozen: the new values, the changed databases, and the logs
 *     finish()    while they run again: sizes, and values that no row names
 *
 * A database file that is the same as when another state was saved is another name of the copy of that state. So a
 * save costs what has changed.
 *
 * A value has one name for ever, and never changes. So a value whose name the pool has is there, unless there was an
 * import (`value-content.ts`). A client of a bucket may still write a value that no row names: it is left out, and its
 * name goes away.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { makePrivateFolder, writeWhole } from "../base/private-files.ts";
import {
  copyFile,
  DatabaseFiles,
  fileState,
  linkFile,
  sizeOf,
  type FileState,
} from "../state/database-files.ts";
import { persistPath } from "../state/folder.ts";
import { isBucketDatabase, isBucketValue, readStateFiles, type StateFiles } from "./layout.ts";
import { openPrivately } from "./private-database.ts";
import {
  filesBelow,
  poolFolder,
  valuesName,
  type RecordedDatabase,
  type RecordedValue,
  type SavedRecord,
} from "./saved-record.ts";
import { contentHash, contentsFolder, hasSameContent, isPathEnough } from "./value-content.ts";

/** Before the kernel's clock of files has ticked, a file can change and keep its time. */
const settledMilliseconds = 50;

export class Capture {
  readonly #persist: string;
  readonly #pool: string;
  readonly #target: string;
  readonly #known: readonly SavedRecord[];
  readonly #contents: string;
  /** Where a value of the same path can have other bytes: the pool, and the folder in use. */
  readonly #compared: readonly string[];
  /** The values that were in the pool before. */
  readonly #pooled: Set<string>;
  readonly #added = new Set<string>();
  /** The hashes of values whose path has other bytes in the pool. */
  readonly #hashes = new Map<string, string>();
  readonly #precopied = new Map<string, { readonly copy: string; readonly state: FileState }>();
  #found: StateFiles = { databases: [], values: new Set(), marks: [] };
  #databases: RecordedDatabase[] = [];

  /**
   * @param stateFolder that has the saved states
   * @param persist the folder whose state is taken
   * @param target a new folder for the copies
   * @param known states that may have copies of the same files
   */
  constructor(stateFolder: string, persist: string, target: string, known: readonly SavedRecord[]) {
    const pool = poolFolder(stateFolder);
    const inUse = persistPath(stateFolder);
    this.#persist = persist;
    this.#pool = pool;
    this.#contents = contentsFolder(stateFolder);
    if (persist !== inUse) this.#compared = [pool, inUse];
    else this.#compared = isPathEnough(stateFolder) ? [] : [pool];
    this.#target = target;
    this.#known = known;
    this.#pooled = new Set(filesBelow(pool));
    makePrivateFolder(target);
  }

  prepare(): void {
    const { databases, values } = readStateFiles(this.#persist);
    for (const path of values) this.#keepValue(path);
    for (const [index, path] of databases.entries()) {
      const files = new DatabaseFiles(join(this.#persist, path));
      const state = fileState(files.path);
      if (state === null || !isSettled(state) || this.#sameMain(path, state) !== null) continue;
      const copy = join(this.#target, `early-${index}`);
      try {
        this.#precopied.set(path, { copy: copyFile(files.path, copy), state });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  }

  /** No process writes. */
  take(): void {
    this.#found = readStateFiles(this.#persist);
    for (const path of this.#found.values) this.#keepValue(path);
    this.#databases = this.#found.databases.map((path, index) => this.#takeDatabase(path, index));
  }

  #takeDatabase(path: string, index: number): RecordedDatabase {
    const files = new DatabaseFiles(join(this.#persist, path));
    const live = fileState(files.path);
    const copy = join(this.#target, String(index));
    const early = this.#precopied.get(path);
    const same = this.#sameMain(path, live);
    if (same !== null) linkFile(same.copyPath(path), copy);
    else if (early?.state === live) linkFile(early.copy, copy);
    else copyFile(files.path, copy);
    const { logBytes } = files;
    const logMark = files.logMark(logBytes);
    if (logBytes > 0) {
      truncateSync(copyFile(files.log, `${copy}-wal`), logBytes);
    }
    return { path, bytes: sizeOf(copy), logBytes, logMark, live };
  }

  #sameMain(path: string, state: FileState): SavedRecord | null {
    const isSame = (each: RecordedDatabase): boolean => each.path === path && each.live === state;
    return this.#known.find(({ databases }) => databases.some(isSame)) ?? null;
  }

  /** @returns what the manifest says of the files */
  finish(): { readonly bytes: number; readonly databases: readonly RecordedDatabase[] } {
    const values: Record<string, RecordedValue> = {};
    let bytes = this.#databases.reduce((sum, each) => sum + each.bytes + each.logBytes, 0);
    const folders = new Set<string>();
    const named = this.#namedValues();
    for (const path of this.#found.values) {
      if (isBucketValue(path) && this.#added.has(path) && !named.has(path)) continue;
      const hash = this.#hashes.get(path);
      const kept = hash === undefined ? join(this.#pool, path) : join(this.#contents, hash);
      const size = sizeOf(kept);
      values[path] = hash === undefined ? size : [size, hash];
      bytes += size;
      folders.add(dirname(kept));
      this.#added.delete(path);
    }
    this.#removeAdded();
    for (const { copy } of this.#precopied.values()) rmSync(copy, { force: true });
    writeWhole(join(this.#target, valuesName), JSON.stringify(values));
    for (const name of filesBelow(this.#target)) sync(join(this.#target, name));
    for (const folder of folders) sync(folder);
    sync(this.#target);
    return { bytes, databases: this.#databases };
  }

  /** Leaves nothing. */
  discard(): void {
    rmSync(this.#target, { recursive: true, force: true });
    for (const path of this.#found.values) if (!this.#pooled.has(path)) this.#added.add(path);
    this.#removeAdded();
  }

  #removeAdded(): void {
    for (const path of this.#added) rmSync(join(this.#pool, path), { force: true });
  }

  #keepValue(path: string): void {
    if (this.#added.has(path) || this.#hashes.has(path)) return;
    try {
      if (this.#hasOtherContent(path)) return this.#keepContent(path);
      if (this.#pooled.has(path)) return;
      const copy = join(this.#pool, path);
      mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
      linkFile(join(this.#persist, path), copy);
      this.#added.add(path);
    } catch (error) {
      // A value that was removed meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  #hasOtherContent(path: string): boolean {
    return this.#compared
      .map((folder) => join(folder, path))
      .some((other) => existsSync(other) && !hasSameContent(join(this.#persist, path), other));
  }

  #keepContent(path: string): void {
    const value = join(this.#persist, path);
    const hash = contentHash(value);
    const copy = join(this.#contents, hash);
    makePrivateFolder(this.#contents);
    if (!hasSameContent(value, copy)) {
      rmSync(copy, { force: true });
      linkFile(value, copy);
    }
    this.#hashes.set(path, hash);
  }

  /** Of the added values of buckets. */
  #namedValues(): Set<string> {
    const added = [...this.#added].filter(isBucketValue);
    const copies = this.#databases.flatMap(({ path }, index) =>
      isBucketDatabase(path) ? [join(this.#target, String(index))] : [],
    );
    return namedValues(added, copies, dirname(this.#pool));
  }
}

/**
 * Those of the values that a row of a bucket names.
 *
 * @param databases of buckets, which no process has open
 */
export function namedValues(
  values: readonly string[],
  databases: readonly string[],
  savedFolder: string,
): Set<string> {
  const left = new Map(values.map((path) => [path.slice(path.lastIndexOf("/") + 1), path]));
  const named = new Set<string>();
  for (const path of databases) {
    if (left.size === 0) break;
    const { database, close } = openPrivately(path, savedFolder);
    try {
      const table = "SELECT 1 FROM sqlite_master WHERE name = 'blobs'";
      if (database.prepare(table).get() === undefined) continue;
      for (const row of database.prepare("SELECT name FROM blobs").iterate()) {
        const value = left.get(String(row["name"]));
        if (value !== undefined) named.add(value);
      }
    } finally {
      close();
    }
  }
  return named;
}

function isSettled(state: string): boolean {
  const modified = Number(BigInt(state.split(" ")[2] ?? 0) / 1_000_000n);
  return Date.now() - modified > settledMilliseconds;
}

function sync(path: string): void {
  if (process.platform === "win32" && statSync(path).isDirectory()) return;
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
