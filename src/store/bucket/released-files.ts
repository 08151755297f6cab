/**
 * The files to which no row refers any more, until they are removed.
 *
 * A file is removed after the commit that deletes its row. If the runtime is killed between the two,
 * the next sweep finds the file by its run, which has ended (`core/blob-name.ts`). But the run of
 * another process goes on, and its file looks like content that is about to be stored. So the commit
 * names such a file here, and the sweep removes it.
 */
import { isOfRun } from "../core/blob-name.ts";

export class ReleasedFiles {
  readonly #sql: SqlStorage;
  readonly #runId: string;
  /** Files that were removed, and whose rows are deleted with the next write. */
  #removed: string[] = [];

  /** @param runId of this runtime, whose files need no row: the run ends with the runtime */
  constructor(sql: SqlStorage, runId: string) {
    this.#sql = sql;
    this.#runId = runId;
  }

  /** Called in the transaction that deletes the rows of the files. */
  add(fileNames: readonly string[]): void {
    const foreign = this.#foreign(fileNames);
    if (foreign.length === 0) return;
    this.forgetRemoved();
    this.#sql.exec(
      "INSERT OR IGNORE INTO released (name) SELECT value FROM json_each(?)",
      JSON.stringify(foreign),
    );
  }

  names(): string[] {
    const rows = this.#sql.exec("SELECT name FROM released").raw<[string]>();
    return Array.from(rows, ([name]) => name);
  }

  /** Called when files are gone. */
  confirmRemoved(fileNames: readonly string[]): void {
    this.#removed.push(...this.#foreign(fileNames));
  }

  /** Deletes the rows of the files that are gone. */
  forgetRemoved(): void {
    if (this.#removed.length === 0) return;
    this.#sql.exec(
      "DELETE FROM released WHERE name IN (SELECT value FROM json_each(?))",
      JSON.stringify(this.#removed),
    );
    this.#removed = [];
  }

  #foreign(fileNames: readonly string[]): string[] {
    return fileNames.filter((name) => !isOfRun(name, this.#runId));
  }
}
