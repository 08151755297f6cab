/**
 * The tables of multipart uploads and of their parts.
 *
 * `since` is the time at which an upload entered its state. The deadline is a fixed time after it:
 * then an upload in progress counts as aborted, and the row of a finished one as deleted, even
 * before the row says so (`core/multipart.ts`).
 *
 * A checksum covers the other columns of its row (`core/row-seal.ts`). A row without a checksum is
 * a row of an earlier version, or the row of an upload that is finished or aborted. A damaged part is read as missing:
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
  state({ key, uploadId }: UploadReference): Pick<StoredUpload, "state" | "since"> | null {
    const query = "SELECT state, since FROM uploads WHERE upload_id = ? AND key = ?";
    const row = firstRow<[UploadState, number]>(this.#sql.exec(query, uploadId, key));
    return row === undefined ? null : { state: row[0], since: row[1] };
  }

  /** Marks an upload as completed and deletes the rows of its parts. */
  complete(uploadId: string, time: number): void {
    this.#sql.exec(
      "UPDATE uploads SET state = 'completed', since = ?, checksum = NULL WHERE upload_id = ?",
      time,
      uploadId,
    );
    this.#sql.exec("DELETE FROM parts WHERE upload_id = ?", uploadId);
  }

  /** Moves the deadline of an upload in progress to `time`, at which the upload is aborted. */
  abortAt(uploadId: string, time: number): void {
    this.#sql.exec(
      "UPDATE uploads SET since = ?, checksum = NULL WHERE upload_id = ?",
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

  /** Deletes up to `limit` parts of these uploads. Returns those whose rows are intact. */
  removeParts(
    uploadIds: readonly string[],
    limit: number,
  ): { removed: number; intact: UploadedPart[] } {
    const rows = this.#sql
      .exec(
        "DELETE FROM parts WHERE (upload_id, part_number) IN (" +
          "SELECT upload_id, part_number FROM parts " +
          "WHERE upload_id IN (SELECT value FROM json_each(?)) LIMIT ?) " +
          `RETURNING upload_id, ${partColumns}`,
        JSON.stringify(uploadIds),
        limit,
      )
      .raw<[string, ...PartRow]>();
    const parts = Array.from(rows, ([uploadId, ...row]) => intactPart(uploadId, row));
    return { removed: parts.length, intact: parts.filter((part) => part !== null) };
  }

  /** Marks uploads whose deadline has passed as aborted at their deadline. */
  abortDue(uploadIds: readonly string[]): void {
    this.#sql.exec(
      "UPDATE uploads SET state = 'aborted', since = since + ?, checksum = NULL " +
        "WHERE upload_id IN (SELECT value FROM json_each(?))",
      uploadLifetimeMilliseconds,
      JSON.stringify(uploadIds),
    );
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

  *#parts(where: string, uploadId: string, ...bindings: number[]): Generator<UploadedPart> {
    const rows = this.#sql
      .exec(`SELECT ${partColumns} FROM parts ${where}`, uploadId, ...bindings)
      .raw<PartRow>();
    for (const row of rows) {
      const part = intactPart(uploadId, row);
      if (part !== null) yield part;
    }
  }
}

const partColumns = "checksum, part_number, size, etag, place, content_checksum";
type PartRow = [number | null, number, number, string, number | string, number | null];

/** The part of a row; `null` when the row does not match its checksum. */
function intactPart(uploadId: string, [sealed, ...columns]: PartRow): UploadedPart | null {
  const [partNumber, size, etag, place, checksum] = columns;
  if (sealed !== null && seals.sealColumns([uploadId, ...columns]) !== sealed) {
    console.warn(`Part ${partNumber} of upload "${uploadId}" is damaged: upload it again.`);
    return null;
  }
  return { partNumber, size, etag, place, ...(checksum !== null && { checksum }) };
}

/** The error of an upload whose row is damaged. */
function damagedUpload(key: string): StoreError {
  return new StoreError(
    10001,
    `Cannot read the upload of "${key}": its row in the database does not match the row's ` +
      "checksum. The upload is damaged; abort it and upload the parts again.",
  );
}
