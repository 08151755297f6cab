/** One database of the runtime, as it was at some time, and the way back (`state/database-files.ts`). */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  copyFile,
  fileState,
  linkFile,
  restoreDatabase,
  type DatabaseFiles,
  type FileState,
} from "../../state/database-files.ts";

export class SavedDatabase {
  readonly #files: DatabaseFiles;
  readonly #copy: string;
  readonly #logCopy: string | null;
  readonly #logBytes: number;
  readonly #logMark: string;
  #main: FileState;
  #log: FileState;

  /** @param before the database when it was saved last: what is the same is not copied again */
  constructor(files: DatabaseFiles, folder: SaveFolder, before: SavedDatabase | undefined) {
    this.#files = files;
    this.#main = fileState(files.path);
    this.#log = fileState(files.log);
    this.#logBytes = files.logBytes;
    this.#logMark = files.logMark(this.#logBytes);
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
    restoreDatabase(this.#files, {
      copy: this.#copy,
      logCopy: this.#logCopy,
      logBytes: this.#logBytes,
      logMark: this.#logMark,
      main: this.#main,
    });
    this.#main = fileState(this.#files.path);
    this.#log = fileState(this.#files.log);
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
