/** The content of objects and parts: rows for small values, names of files for large ones. */
import { verifyChecksum, type Checksums, type ExpectedChecksum } from "../core/checksum.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateUploadSize } from "../core/multipart.ts";
import type { Content, ContentSlice } from "../core/operations.ts";
import type { Segment, SegmentSlice } from "../core/content-segment.ts";
import { onlyRow } from "./rows.ts";

/** Content whose size and hash are valid. */
export interface CheckedContent {
  readonly content: Content;
  readonly size: number;
  readonly checksums: Checksums;
}

/**
 * Checks content before anything is written.
 *
 * @throws StoreError 10037 when the content has another hash than expected, 100100 when it is too
 *   large
 */
export function checkContent(content: Content, expected?: ExpectedChecksum): CheckedContent {
  const { checksums } = content;
  const size = "blob" in content ? content.size : content.bytes.length;
  if ("bytes" in content && size > inlineBytesMax) {
    throw new Error(`Cannot store ${size} bytes in the database: write a blob first`);
  }
  validateUploadSize(size);
  verifyChecksum(expected, checksums);
  return { content, size, checksums };
}

export class ContentTable {
  readonly #sql: SqlStorage;
  /** Counted here: reading the id that SQLite chooses costs more than the insert. */
  #lastId: number;
  /** Written to bodies since the table was empty; `Infinity` if it was not empty when opened. */
  bytesWritten: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    const [lastId] = onlyRow<[number | null]>(sql.exec("SELECT max(id) FROM bodies"));
    this.#lastId = lastId ?? 0;
    this.bytesWritten = lastId === null ? 0 : Infinity;
  }

  /** Inserts a body and returns its id. */
  addBody(bytes: Uint8Array): number {
    const id = ++this.#lastId;
    this.bytesWritten += bytes.length;
    this.#sql.exec("INSERT INTO bodies (id, bytes) VALUES (?, ?)", id, bytes);
    return id;
  }

  /** Overwrites a body. */
  replaceBody(id: number, bytes: Uint8Array): void {
    this.bytesWritten += bytes.length;
    this.#sql.exec("UPDATE bodies SET bytes = ? WHERE id = ?", bytes, id);
  }

  addBlob(name: string): void {
    this.#sql.exec("INSERT INTO blobs (name) VALUES (?)", name);
  }

  /** Stores content as one segment. */
  add({ content, size }: CheckedContent): Segment {
    if ("blob" in content) {
      this.addBlob(content.blob);
      return { size, place: content.blob };
    }
    return { size, place: this.addBody(content.bytes) };
  }

  /** Deletes content. Returns the files to remove. */
  release(places: readonly Segment["place"][]): string[] {
    const ids = places.filter((place) => typeof place === "number");
    const names = places.filter((place) => typeof place === "string");
    this.#delete("DELETE FROM bodies WHERE id", ids);
    this.#delete("DELETE FROM blobs WHERE name", names);
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

  read({ segment, offset, length }: SegmentSlice): ContentSlice {
    const { size, place } = segment;
    if (typeof place === "string") return { blob: place, blobSize: size, offset, length };
    // `substr` counts from 1.
    const cursor =
      length === size
        ? this.#sql.exec("SELECT bytes FROM bodies WHERE id = ?", place)
        : this.#sql.exec(
            "SELECT substr(bytes, ?, ?) FROM bodies WHERE id = ?",
            offset + 1,
            length,
            place,
          );
    const [bytes] = onlyRow<[ArrayBuffer]>(cursor);
    return { bytes };
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
