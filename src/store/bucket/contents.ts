/** The content of objects and parts: rows for small values, names of files for large ones. */
import { isOfRun, type Segment, type SegmentSlice } from "../core/content.ts";
import { md5 as md5Of } from "../core/hash.ts";
import { StoreError } from "../core/errors.ts";
import type { Content, ContentSlice } from "../core/operations.ts";
import { firstRow, onlyRow } from "./schema.ts";

export class ContentTable {
  readonly #sql: SqlStorage;
  readonly #releasedFiles: ReleasedFiles;
  /** Counted here: reading the id that SQLite chooses costs more than the insert. */
  #lastId: number;
  /** Written to bodies since the table was empty; `Infinity` if it was not empty when opened. */
  bytesWritten: number;

  constructor(sql: SqlStorage, releasedFiles: ReleasedFiles) {
    this.#sql = sql;
    this.#releasedFiles = releasedFiles;
    const [lastId] = onlyRow<[number | null]>(sql.exec("SELECT max(id) FROM bodies"));
    this.#lastId = lastId ?? 0;
    this.bytesWritten = lastId === null ? 0 : Infinity;
  }

  addBody(bytes: Uint8Array): number {
    const id = ++this.#lastId;
    this.bytesWritten += bytes.length;
    this.#sql.exec("INSERT INTO bodies (id, bytes) VALUES (?, ?)", id, bytes);
    return id;
  }

  replaceBody(id: number, bytes: Uint8Array): void {
    this.bytesWritten += bytes.length;
    this.#sql.exec("UPDATE bodies SET bytes = ? WHERE id = ?", bytes, id);
  }

  add(content: Content): Segment {
    const md5 = content.checksums.md5 as string;
    if ("bytes" in content) {
      return { size: content.bytes.length, place: this.addBody(content.bytes), md5 };
    }
    this.#sql.exec("INSERT INTO blobs (name) VALUES (?)", content.blob);
    this.#sql.exec("UPDATE generation SET number = number + 1");
    return { size: content.size, place: content.blob, md5 };
  }

  /** Deletes content. Returns the files to remove. */
  release(places: readonly Segment["place"][]): string[] {
    const ids = places.filter((place) => typeof place === "number");
    const names = places.filter((place) => typeof place === "string");
    this.#delete("DELETE FROM bodies WHERE id", ids);
    this.#delete("DELETE FROM blobs WHERE name", names);
    this.#releasedFiles.add(names);
    return names;
  }

  #delete(statement: string, values: readonly (number | string)[]): void {
    const [first, second] = values;
    if (first === undefined) return;
    if (second === undefined) this.#sql.exec(`${statement} = ?`, first);
    else {
      const list = JSON.stringify(values);
      this.#sql.exec(`${statement} IN (SELECT value FROM json_each(?))`, list);
    }
  }

  /**
   * @param object the key, for errors, and whether content in the database is compared with its MD5
   * @throws StoreError 10001 for content that is damaged in the database
   */
  read(
    { key, verify = false }: { readonly key: string; readonly verify?: boolean },
    { segment, offset, length }: SegmentSlice,
  ): ContentSlice {
    const { size, place, md5 } = segment;
    if (typeof place === "string") return { blob: place, blobSize: size, offset, length, md5 };
    const row = firstRow<[ArrayBuffer]>(
      this.#sql.exec("SELECT bytes FROM bodies WHERE id = ?", place),
    );
    if (row === undefined) throw damagedObject(key, bodyMissing);
    const [bytes] = row;
    if (verify) verifyBody(key, bytes, md5);
    return { bytes: length === size ? bytes : bytes.slice(offset, offset + length) };
  }

  /** How many files the commits of this database have named. */
  generation(): number {
    return onlyRow<[number]>(this.#sql.exec("SELECT number FROM generation"))[0];
  }

  namesFiles(): boolean {
    return firstRow(this.#sql.exec("SELECT 1 FROM blobs LIMIT 1")) !== undefined;
  }

  fileNames(): string[] {
    const rows = this.#sql.exec("SELECT name FROM blobs");
    return Array.from(rows.raw<[string]>(), ([name]) => name);
  }

  /** Those of the files to which no row refers. */
  unreferenced(fileNames: readonly string[]): string[] {
    const rows = this.#sql.exec(
      "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT name FROM blobs)",
      JSON.stringify(fileNames),
    );
    return Array.from(rows.raw<[string]>(), ([name]) => name);
  }
}

export function verifyBody(key: string, bytes: ArrayBuffer, expected: string): void {
  const actual = md5Of(new Uint8Array(bytes));
  if (actual === expected) return;
  const problem = `its content in the database has the MD5 ${actual}, metadata says ${expected}`;
  throw damagedObject(key, problem);
}

export function damagedObject(key: string, problem: string): StoreError {
  return new StoreError(
    10001,
    `Cannot read "${key}": ${problem}. The object is damaged; put it again or delete it.`,
  );
}

export const bodyMissing = "its content is missing in the database";

/**
 * The files to which no row refers any more, until they are removed.
 *
 * A file is removed after the commit that deletes its row. If the runtime is killed between the two,
 * the next sweep finds the file by its run, which has ended (`core/content.ts`). But the run of
 * another process goes on, and its file looks like content that is about to be stored. So the commit
 * names such a file here, and the sweep removes it.
 */

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

  confirmRemoved(fileNames: readonly string[]): void {
    this.#removed.push(...this.#foreign(fileNames));
  }

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
