/**
 * The tables of multipart uploads and of their parts.
 *
 * `since` is the time at which an upload entered its state, or an earlier time for an upload that a
 * rule of the bucket lets expire earlier. The deadline is a fixed time after it: then an upload in
 * progress counts as aborted, and the row of a finished one as deleted, even before the row says so
 * (`core/multipart.ts`).
 */
import type { Segment } from "../core/content.ts";
import { uploadDeadline, type ListedPart, type UploadState } from "../core/multipart.ts";
import type {
  UploadReference,
  ObjectDescription,
  StorageClass,
  UploadRecord,
} from "../core/operations.ts";
import type {
  UploadChecksum,
  Checksums,
  ChecksumType,
  S3ChecksumAlgorithm,
} from "../core/checksum.ts";
import type { UploadBound } from "../core/list-page.ts";
import { firstRow, onlyRow } from "./schema.ts";
import { uploadLifetimeMilliseconds } from "../core/limits.ts";

export interface StoredUpload {
  readonly state: UploadState;
  readonly since: number;
  readonly created: number;
  readonly description: ObjectDescription;
  /** The checksum that the object gets. */
  readonly checksum: UploadChecksum;
}

/** A part, and where its content is. */
export interface UploadedPart extends ListedPart, Pick<Segment, "place"> {}

/** A new upload. */
interface NewUpload extends UploadReference, Omit<StoredUpload, "state"> {}

export class UploadTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Stores an upload in progress, in place of its row. */
  put({ key, uploadId, since, created, description, checksum }: NewUpload): void {
    const { storageClass, http, custom, ssecKeyMd5 = null } = description;
    const { checksumAlgorithm = null, checksumType = null } = checksum;
    this.#sql.exec(
      "INSERT OR REPLACE INTO uploads (upload_id, key, since, created, storage_class, http, custom, " +
        "checksum_algorithm, checksum_type, ssec_key_md5, state) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'in progress')",
      uploadId,
      key,
      since,
      created,
      storageClass,
      JSON.stringify(http),
      JSON.stringify(custom),
      checksumAlgorithm,
      checksumType,
      ssecKeyMd5,
    );
  }

  find({ key, uploadId }: UploadReference): StoredUpload | null {
    const row = firstRow<
      [UploadState, number, number, StorageClass, string, string, string | null, ...ChecksumColumns]
    >(
      this.#sql.exec(
        "SELECT state, since, created, storage_class, http, custom, ssec_key_md5, " +
          "checksum_algorithm, checksum_type FROM uploads WHERE upload_id = ? AND key = ?",
        uploadId,
        key,
      ),
    );
    if (row === undefined) return null;
    const [state, since, created, storageClass, http, custom, ssecKeyMd5, ...checksum] = row;
    return {
      state,
      since,
      created,
      description: {
        storageClass,
        http: JSON.parse(http),
        custom: JSON.parse(custom),
        ...(ssecKeyMd5 !== null && { ssecKeyMd5 }),
      },
      checksum: uploadChecksum(checksum),
    };
  }

  /** Marks an upload as completed and deletes the rows of its parts. */
  complete(uploadId: string, time: number): void {
    this.#sql.exec(
      "UPDATE uploads SET state = 'completed', since = ? WHERE upload_id = ?",
      time,
      uploadId,
    );
    this.#sql.exec("DELETE FROM parts WHERE upload_id = ?", uploadId);
  }

  /** Moves the deadline of an upload in progress to `time`, at which the upload is aborted. */
  abortAt(uploadId: string, time: number): void {
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

  /** Deletes up to `limit` parts of these uploads. Returns where their content is. */
  removeParts(uploadIds: readonly string[], limit: number): Pick<UploadedPart, "place">[] {
    const rows = this.#sql
      .exec(
        "DELETE FROM parts WHERE (upload_id, part_number) IN (" +
          "SELECT upload_id, part_number FROM parts " +
          "WHERE upload_id IN (SELECT value FROM json_each(?)) LIMIT ?) " +
          "RETURNING place",
        JSON.stringify(uploadIds),
        limit,
      )
      .raw<[number | string]>();
    return Array.from(rows, ([place]) => ({ place }));
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
    const { partNumber, size, etag, place, uploaded, checksums } = part;
    const { md5: _, ...others } = checksums;
    this.#sql.exec(
      "INSERT OR REPLACE INTO parts (upload_id, part_number, size, etag, place, uploaded, checksums) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
      uploadId,
      partNumber,
      size,
      etag,
      place,
      uploaded,
      Object.keys(others).length > 0 ? JSON.stringify(others) : null,
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
  *inProgress(
    { from, end }: { from: UploadBound; end: string | null },
    now: number,
  ): Generator<UploadRecord> {
    const rows = this.#sql
      .exec(
        "SELECT upload_id, key, created, storage_class, checksum_algorithm, checksum_type FROM uploads " +
          "WHERE state = 'in progress' AND (key, since, upload_id) > (?, ?, ?) " +
          "AND (?4 IS NULL OR key < ?4) AND since > ?5 ORDER BY key, since, upload_id",
        ...this.#lowerBound(from),
        end,
        now - uploadLifetimeMilliseconds,
      )
      .raw<[string, string, number, StorageClass, ...ChecksumColumns]>();
    for (const [uploadId, key, created, storageClass, ...checksum] of rows) {
      yield { uploadId, key, created, storageClass, ...uploadChecksum(checksum) };
    }
  }

  /** Without the upload, before or after all uploads of the key. */
  #lowerBound({ key, uploadId, inclusive }: UploadBound): [string, number, string] {
    const [first, last] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
    if (uploadId === undefined) return [key, inclusive ? first : last, ""];
    return [key, this.find({ key, uploadId })?.since ?? first, uploadId];
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
    for (const [partNumber, size, etag, place, uploaded, others] of rows) {
      const checksums: Checksums = { md5: etag, ...(others !== null && JSON.parse(others)) };
      yield { partNumber, size, etag, place, uploaded, checksums };
    }
  }
}

type ChecksumColumns = [algorithm: S3ChecksumAlgorithm | null, type: ChecksumType | null];

function uploadChecksum([checksumAlgorithm, checksumType]: ChecksumColumns): UploadChecksum {
  return checksumAlgorithm === null || checksumType === null
    ? {}
    : { checksumAlgorithm, checksumType };
}

const partColumns = "part_number, size, etag, place, uploaded, checksums";
type PartRow = [
  partNumber: number,
  size: number,
  etag: string,
  place: number | string,
  uploaded: number,
  checksums: string | null,
];
