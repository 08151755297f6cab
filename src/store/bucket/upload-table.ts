/**
 * The tables of multipart uploads and of their parts.
 *
 * `since` is the time at which an upload entered its state. The deadline is a fixed time after it:
 * then an upload in progress counts as aborted, and the row of a finished one as deleted, even
 * before the row says so (`core/multipart.ts`).
 */
import { uploadDeadline, type StoredPart, type UploadState } from "../core/multipart.ts";
import { uploadLifetimeMilliseconds } from "../core/limits.ts";
import type {
  ObjectDescription,
  StorageClass,
  UploadRecord,
  UploadReference,
} from "../core/operations.ts";
import type { Segment } from "../core/content-segment.ts";
import { firstRow, onlyRow } from "./rows.ts";

export interface StoredUpload {
  readonly state: UploadState;
  readonly since: number;
  readonly description: ObjectDescription;
}

/** A part, and where its content is. */
export interface UploadedPart extends StoredPart {
  readonly place: Segment["place"];
}

export class UploadTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add({ key, uploadId }: UploadReference, created: number, description: ObjectDescription): void {
    this.#sql.exec(
      "INSERT INTO uploads (upload_id, key, state, since, storage_class, http, custom) " +
        "VALUES (?, ?, 'in progress', ?, ?, ?, ?)",
      uploadId,
      key,
      created,
      description.storageClass,
      JSON.stringify(description.http),
      JSON.stringify(description.custom),
    );
  }

  find({ key, uploadId }: UploadReference): StoredUpload | null {
    const row = firstRow<[UploadState, number, StorageClass, string, string]>(
      this.#sql.exec(
        "SELECT state, since, storage_class, http, custom FROM uploads " +
          "WHERE upload_id = ? AND key = ?",
        uploadId,
        key,
      ),
    );
    if (row === undefined) return null;
    const [state, since, storageClass, http, custom] = row;
    return {
      state,
      since,
      description: { storageClass, http: JSON.parse(http), custom: JSON.parse(custom) },
    };
  }

  /** Marks an upload as finished. */
  finish(uploadId: string, state: "completed" | "aborted", time: number): void {
    this.#sql.exec(
      "UPDATE uploads SET state = ?, since = ? WHERE upload_id = ?",
      state,
      time,
      uploadId,
    );
  }

  deleteParts(uploadId: string): void {
    this.#sql.exec("DELETE FROM parts WHERE upload_id = ?", uploadId);
  }

  /** Deletes up to `limit` parts of these uploads, and returns where their content is. */
  removeParts(uploadIds: readonly string[], limit: number): Segment[] {
    const rows = this.#sql.exec(
      "DELETE FROM parts WHERE (upload_id, part_number) IN (" +
        "SELECT upload_id, part_number FROM parts " +
        "WHERE upload_id IN (SELECT value FROM json_each(?)) LIMIT ?) RETURNING size, place",
      JSON.stringify(uploadIds),
      limit,
    );
    return Array.from(rows.raw<[number, number | string]>(), ([size, place]) => ({ size, place }));
  }

  /** Marks uploads whose deadline has passed as aborted at their deadline. */
  abortDue(uploadIds: readonly string[]): void {
    this.#sql.exec(
      "UPDATE uploads SET state = 'aborted', since = since + ? " +
        "WHERE upload_id IN (SELECT value FROM json_each(?))",
      uploadLifetimeMilliseconds,
      JSON.stringify(uploadIds),
    );
  }

  /** Moves the deadline of an upload in progress. */
  setDeadline(uploadId: string, time: number): void {
    this.#sql.exec(
      "UPDATE uploads SET since = ? WHERE upload_id = ?",
      time - uploadLifetimeMilliseconds,
      uploadId,
    );
  }

  /** Up to `limit` uploads whose deadline has passed, in the order of the deadlines. */
  due(now: number, limit: number): { inProgress: string[]; finished: string[] } {
    const rows = this.#sql
      .exec(
        "SELECT upload_id, state FROM uploads WHERE since <= ? ORDER BY since LIMIT ?",
        now - uploadLifetimeMilliseconds,
        limit,
      )
      .raw<[string, UploadState]>();
    const inProgress: string[] = [];
    const finished: string[] = [];
    for (const [id, state] of rows) (state === "in progress" ? inProgress : finished).push(id);
    return { inProgress, finished };
  }

  forget(uploadIds: readonly string[]): void {
    this.#sql.exec(
      "DELETE FROM uploads WHERE upload_id IN (SELECT value FROM json_each(?))",
      JSON.stringify(uploadIds),
    );
  }

  nextDeadline(): number | null {
    const [since] = onlyRow<[number | null]>(this.#sql.exec("SELECT min(since) FROM uploads"));
    return since === null ? null : uploadDeadline(since);
  }

  /** Stores a part. Returns the part that it replaces. */
  putPart(uploadId: string, part: UploadedPart): UploadedPart | null {
    const replaced = this.part(uploadId, part.partNumber);
    this.#sql.exec(
      "INSERT OR REPLACE INTO parts (upload_id, part_number, size, etag, place) " +
        "VALUES (?, ?, ?, ?, ?)",
      uploadId,
      part.partNumber,
      part.size,
      part.etag,
      part.place,
    );
    return replaced;
  }

  part(uploadId: string, partNumber: number): UploadedPart | null {
    const [part] = this.#parts("WHERE upload_id = ? AND part_number = ?", uploadId, partNumber);
    return part ?? null;
  }

  /** Parts in order of their number, read as the caller iterates. */
  parts(uploadId: string, afterPartNumber = 0): Iterable<UploadedPart> {
    return this.#parts(
      "WHERE upload_id = ? AND part_number > ? ORDER BY part_number",
      uploadId,
      afterPartNumber,
    );
  }

  /** Uploads in progress at `now` in order of key and age, read as the caller iterates. */
  *inProgress({
    prefix,
    end,
    after,
    now,
  }: {
    prefix: string;
    end: string | null;
    after?: UploadReference;
    now: number;
  }): Generator<UploadRecord> {
    const start = after === undefined ? null : (this.find(after)?.since ?? -1);
    const rows = this.#sql
      .exec(
        "SELECT upload_id, key, since, storage_class FROM uploads WHERE state = 'in progress' " +
          "AND key >= ? AND (?2 IS NULL OR key < ?2) " +
          "AND (?3 IS NULL OR (key, since, upload_id) > (?3, ?4, ?5)) AND since > ?6 " +
          "ORDER BY key, since, upload_id",
        prefix,
        end,
        after?.key ?? null,
        start,
        after?.uploadId ?? null,
        now - uploadLifetimeMilliseconds,
      )
      .raw<[string, string, number, StorageClass]>();
    for (const [uploadId, key, created, storageClass] of rows) {
      yield { uploadId, key, created, storageClass };
    }
  }

  countInProgress(now: number): number {
    const [count] = onlyRow<[number]>(
      this.#sql.exec(
        "SELECT count(*) FROM uploads WHERE state = 'in progress' AND since > ?",
        now - uploadLifetimeMilliseconds,
      ),
    );
    return count;
  }

  *#parts(where: string, ...bindings: (string | number)[]): Generator<UploadedPart> {
    const rows = this.#sql
      .exec(`SELECT part_number, size, etag, place FROM parts ${where}`, ...bindings)
      .raw<[number, number, string, number | string]>();
    for (const [partNumber, size, etag, place] of rows) yield { partNumber, size, etag, place };
  }
}
