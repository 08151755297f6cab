/**
 * The tables of multipart uploads and of their parts.
 *
 * `since` is the time at which an upload entered its state, or an earlier time for an upload that a
 * rule of the bucket lets expire earlier. The deadline is a fixed time after it: then an upload in
 * progress counts as aborted, and the row of a finished one as deleted, even before the row says so
 * (`core/multipart.ts`).
 *
 * A checksum covers the other columns of its row (`core/row-seal.ts`). A row without a checksum is
 * a row of an earlier version, or the row of an upload that is finished or aborted. A damaged part
 * is read as missing: the place that it names may be that of an object, and the uploader can upload
 * the part again.
 */
import type { Segment } from "../core/content.ts";
import { StoreError } from "../core/errors.ts";
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
import { firstRow, onlyRow, seals } from "./schema.ts";
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
export interface UploadedPart extends Omit<ListedPart, "uploaded">, Omit<Segment, "md5"> {
  /** `null` for a part that an earlier version stored */
  readonly uploaded: number | null;
}

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
    const columns = [
      uploadId,
      key,
      since,
      storageClass,
      JSON.stringify(http),
      JSON.stringify(custom),
    ];
    const added = [created, checksumAlgorithm, checksumType] as const;
    this.#sql.exec(
      "INSERT OR REPLACE INTO uploads (upload_id, key, since, storage_class, http, custom, " +
        `${checksumColumns}, ssec_key_md5, checksum, state) ` +
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'in progress')",
      ...columns,
      ...added,
      ssecKeyMd5,
      seals.sealColumns(columns, added, [ssecKeyMd5]),
    );
  }

  /** @throws StoreError 10001 for a damaged row */
  find({ key, uploadId }: UploadReference): StoredUpload | null {
    const row = firstRow<[...UploadRow, string | null, ...ChecksumColumns]>(
      this.#sql.exec(
        "SELECT state, checksum, since, storage_class, http, custom, ssec_key_md5, " +
          `${checksumColumns} FROM uploads WHERE upload_id = ? AND key = ?`,
        uploadId,
        key,
      ),
    );
    if (row === undefined) return null;
    const [state, checksum, since, storageClass, http, custom, ssecKeyMd5, ...added] = row;
    const columns = [uploadId, key, since, storageClass, http, custom];
    if (checksum !== null && seals.sealColumns(columns, added, [ssecKeyMd5]) !== checksum) {
      throw damagedUpload(key);
    }
    return {
      state,
      since,
      created: added[0] ?? since,
      description: {
        storageClass,
        http: JSON.parse(http),
        custom: JSON.parse(custom),
        ...(ssecKeyMd5 !== null && { ssecKeyMd5 }),
      },
      checksum: uploadChecksum(added),
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
    const { partNumber, size, etag, place, checksum = null, uploaded } = part;
    const columns = [uploadId, partNumber, size, etag, place, checksum];
    const { md5: _, ...others } = part.checksums;
    const hasOthers = Object.keys(others).length > 0;
    const added = [uploaded, hasOthers ? JSON.stringify(others) : null] as const;
    this.#sql.exec(
      "INSERT OR REPLACE INTO parts (upload_id, part_number, size, etag, place, " +
        "content_checksum, uploaded, checksums, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...columns,
      ...added,
      seals.sealColumns(columns, added),
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
        `SELECT upload_id, key, since, storage_class, ${checksumColumns} FROM uploads ` +
          "WHERE state = 'in progress' AND (key, since, upload_id) > (?, ?, ?) " +
          "AND (?4 IS NULL OR key < ?4) AND since > ?5 ORDER BY key, since, upload_id",
        ...this.#lowerBound(from),
        end,
        now - uploadLifetimeMilliseconds,
      )
      .raw<[string, string, number, StorageClass, ...ChecksumColumns]>();
    for (const [uploadId, key, since, storageClass, ...added] of rows) {
      const created = added[0] ?? since;
      yield { uploadId, key, created, storageClass, ...uploadChecksum(added) };
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
    for (const row of rows) {
      const part = intactPart(uploadId, row);
      if (part !== null) yield part;
    }
  }
}

type UploadRow = [UploadState, number | null, number, StorageClass, string, string];

/** The columns that an upload has since format 4. */
const checksumColumns = "created, checksum_algorithm, checksum_type";
type ChecksumColumns = [
  created: number | null,
  algorithm: S3ChecksumAlgorithm | null,
  type: ChecksumType | null,
];

function uploadChecksum([, checksumAlgorithm, checksumType]: ChecksumColumns): UploadChecksum {
  return checksumAlgorithm === null || checksumType === null
    ? {}
    : { checksumAlgorithm, checksumType };
}

const partColumns =
  "checksum, part_number, size, etag, place, content_checksum, uploaded, checksums";
type PartRow = [
  sealed: number | null,
  partNumber: number,
  size: number,
  etag: string,
  place: number | string,
  contentChecksum: number | null,
  uploaded: number | null,
  checksums: string | null,
];

/** The part of a row; `null` when the row does not match its checksum. */
function intactPart(uploadId: string, row: PartRow): UploadedPart | null {
  const [sealed, partNumber, size, etag, place, checksum, ...added] = row;
  const columns = [uploadId, partNumber, size, etag, place, checksum];
  if (sealed !== null && seals.sealColumns(columns, added) !== sealed) {
    console.warn(`Part ${partNumber} of upload "${uploadId}" is damaged: upload it again.`);
    return null;
  }
  const [uploaded, others] = added;
  const checksums: Checksums = { md5: etag, ...(others !== null && JSON.parse(others)) };
  const part = { partNumber, size, etag, place, uploaded, checksums };
  return checksum === null ? part : { ...part, checksum };
}

/** The error of an upload whose row is damaged. */
function damagedUpload(key: string): StoreError {
  return new StoreError(
    10001,
    `Cannot read the upload of "${key}": its row in the database does not match the row's ` +
      "checksum. The upload is damaged; abort it and upload the parts again.",
  );
}
