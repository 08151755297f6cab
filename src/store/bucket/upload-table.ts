/**
 * The tables of multipart uploads and of their parts.
 *
 * `since` is the time at which an upload entered its state. The deadline is a fixed time after it:
 * then an upload in progress is aborted, and the row of a finished one is deleted.
 *
 * A checksum covers the other columns of its row (`core/row-seal.ts`). A row without a checksum is
 * a row of an earlier version, or the row of a finished upload. A damaged part is read as missing:
 * the place that it names may be that of an object, and the uploader can upload the part again.
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
import { StoreError } from "../core/errors.ts";
import { firstRow, onlyRow, seals } from "./rows.ts";

export interface StoredUpload {
  readonly state: UploadState;
  readonly since: number;
  readonly description: ObjectDescription;
}

/** A part, and where its content is. */
export interface UploadedPart extends StoredPart, Omit<Segment, "md5"> {}

export class UploadTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add({ key, uploadId }: UploadReference, created: number, description: ObjectDescription): void {
    const columns = [
      uploadId,
      key,
      created,
      description.storageClass,
      JSON.stringify(description.http),
      JSON.stringify(description.custom),
    ];
    this.#sql.exec(
      "INSERT INTO uploads (upload_id, key, state, since, storage_class, http, custom, checksum) " +
        "VALUES (?, ?, 'in progress', ?, ?, ?, ?, ?)",
      ...columns,
      seals.sealColumns(columns),
    );
  }

  /** @throws StoreError 10001 for a damaged row */
  find({ key, uploadId }: UploadReference): StoredUpload | null {
    const row = firstRow<[UploadState, number | null, number, StorageClass, string, string]>(
      this.#sql.exec(
        "SELECT state, checksum, since, storage_class, http, custom FROM uploads " +
          "WHERE upload_id = ? AND key = ?",
        uploadId,
        key,
      ),
    );
    if (row === undefined) return null;
    const [state, checksum, ...columns] = row;
    if (checksum !== null && seals.sealColumns([uploadId, key, ...columns]) !== checksum) {
      throw damagedUpload(key);
    }
    const [since, storageClass, http, custom] = columns;
    return {
      state,
      since,
      description: { storageClass, http: JSON.parse(http), custom: JSON.parse(custom) },
    };
  }

  /** The state of an upload, also of one whose row is damaged. */
  state({ key, uploadId }: UploadReference): UploadState | null {
    const query = "SELECT state FROM uploads WHERE upload_id = ? AND key = ?";
    return firstRow<[UploadState]>(this.#sql.exec(query, uploadId, key))?.[0] ?? null;
  }

  /** Marks an upload as finished and deletes the rows of its parts. Returns the parts. */
  finish(uploadId: string, state: "completed" | "aborted", time: number): UploadedPart[] {
    this.#sql.exec(
      "UPDATE uploads SET state = ?, since = ?, checksum = NULL WHERE upload_id = ?",
      state,
      time,
      uploadId,
    );
    const parts = [...this.parts(uploadId)];
    this.#sql.exec("DELETE FROM parts WHERE upload_id = ?", uploadId);
    return parts;
  }

  /** The uploads whose deadline has passed. */
  due(now: number): { uploadId: string; state: UploadState }[] {
    const rows = this.#sql.exec(
      "SELECT upload_id, state FROM uploads WHERE since <= ?",
      now - uploadLifetimeMilliseconds,
    );
    return Array.from(rows.raw<[string, UploadState]>(), ([uploadId, state]) => ({
      uploadId,
      state,
    }));
  }

  forget(uploadId: string): void {
    this.#sql.exec("DELETE FROM uploads WHERE upload_id = ?", uploadId);
  }

  nextDeadline(): number | null {
    const [since] = onlyRow<[number | null]>(this.#sql.exec("SELECT min(since) FROM uploads"));
    return since === null ? null : uploadDeadline(since);
  }

  /** Stores a part. Returns the part that it replaces. */
  putPart(uploadId: string, part: UploadedPart): UploadedPart | null {
    const replaced = this.part(uploadId, part.partNumber);
    const { partNumber, size, etag, place, checksum = null } = part;
    const columns = [uploadId, partNumber, size, etag, place, checksum];
    this.#sql.exec(
      "INSERT OR REPLACE INTO parts " +
        "(upload_id, part_number, size, etag, place, content_checksum, checksum) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...columns,
      seals.sealColumns(columns),
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

  /** Uploads in progress in order of key and age, read as the caller iterates. */
  *inProgress({
    prefix,
    end,
    after,
  }: {
    prefix: string;
    end: string | null;
    after?: UploadReference;
  }): Generator<UploadRecord> {
    const start = after === undefined ? null : (this.find(after)?.since ?? -1);
    const rows = this.#sql
      .exec(
        "SELECT upload_id, key, since, storage_class FROM uploads WHERE state = 'in progress' " +
          "AND key >= ? AND (?2 IS NULL OR key < ?2) " +
          "AND (?3 IS NULL OR (key, since, upload_id) > (?3, ?4, ?5)) " +
          "ORDER BY key, since, upload_id",
        prefix,
        end,
        after?.key ?? null,
        start,
        after?.uploadId ?? null,
      )
      .raw<[string, string, number, StorageClass]>();
    for (const [uploadId, key, created, storageClass] of rows) {
      yield { uploadId, key, created, storageClass };
    }
  }

  countInProgress(): number {
    const [count] = onlyRow<[number]>(
      this.#sql.exec("SELECT count(*) FROM uploads WHERE state = 'in progress'"),
    );
    return count;
  }

  *#parts(where: string, uploadId: string, ...bindings: number[]): Generator<UploadedPart> {
    const rows = this.#sql
      .exec(
        `SELECT checksum, part_number, size, etag, place, content_checksum FROM parts ${where}`,
        uploadId,
        ...bindings,
      )
      .raw<[number | null, number, number, string, number | string, number | null]>();
    for (const [sealed, ...columns] of rows) {
      const [partNumber, size, etag, place, checksum] = columns;
      if (sealed !== null && seals.sealColumns([uploadId, ...columns]) !== sealed) {
        console.warn(`Part ${partNumber} of upload "${uploadId}" is damaged: upload it again.`);
        continue;
      }
      yield { partNumber, size, etag, place, ...(checksum !== null && { checksum }) };
    }
  }
}

/** The error of an upload whose row is damaged. */
function damagedUpload(key: string): StoreError {
  return new StoreError(
    10001,
    `Cannot read the upload of "${key}": its row in the database does not match the row's ` +
      "checksum. The upload is damaged; abort it and upload the parts again.",
  );
}
