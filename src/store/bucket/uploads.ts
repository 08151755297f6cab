/**
 * The multipart uploads of a bucket: an upload is created, receives parts, and is completed or
 * aborted. An upload that reaches its deadline is aborted (`core/multipart.ts`).
 *
 * Thousands of uploads can expire at once, and an upload can have thousands of parts. So `expire`
 * works in steps of a bounded number of rows. Between the steps the time decides what an upload
 * is, and not the row. To abort an upload is to move its deadline to now: the steps do the rest.
 */
import { checkContent, type Segment } from "../core/content.ts";
import { conditionHolds } from "../core/conditional.ts";
import { requireSameKey, validateMetadata } from "../core/metadata.ts";
import { StoreError } from "../core/errors.ts";
import { validateKey } from "../core/key.ts";
import {
  earlierExpiry,
  multipartEtag,
  selectParts,
  uploadStateAt,
  validatePartNumber,
  uploadDeadline,
  type ListedPart,
  type UploadState,
} from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import type {
  Request,
  Result,
  UploadReference,
  ObjectDescription,
  StorageClass,
  UploadChecksum,
  UploadRecord,
} from "../core/operations.ts";
import {
  checksumsOfUpload,
  resolveUploadChecksum,
  type Checksums,
  type ChecksumType,
  type S3ChecksumAlgorithm,
} from "../core/checksum.ts";
import { uploadPage, type UploadBound } from "../core/list.ts";
import type { ContentTable } from "./contents.ts";
import { type ObjectRepository, newVersion, type BucketPlatform } from "./objects.ts";
import { type SettingsTable, firstRow, onlyRow, seals } from "./schema.ts";
import { uploadLifetimeMilliseconds } from "../core/limits.ts";

/** The rows that one step of the expiry changes: a step takes some milliseconds. */
const stepRowsMax = 200;

export class MultipartUploads {
  readonly #platform: BucketPlatform;
  readonly #table: UploadTable;
  readonly #contents: ContentTable;
  readonly #objects: ObjectRepository;
  readonly #settings: SettingsTable;
  /** Every call needs the deadline, so it is read again only after the uploads have changed. */
  #deadline: { readonly time: number | null } | undefined;

  constructor(
    platform: BucketPlatform,
    contents: ContentTable,
    objects: ObjectRepository,
    settings: SettingsTable,
  ) {
    this.#platform = platform;
    this.#settings = settings;
    this.#table = new UploadTable(platform.storage.sql);
    this.#contents = contents;
    this.#objects = objects;
  }

  create({
    key,
    storageClass,
    http,
    custom,
    ssecKeyMd5,
    ...requested
  }: Request<"createUpload">): Result<"createUpload"> {
    validateKey(key);
    validateMetadata(http, custom);
    const checksum = resolveUploadChecksum(requested);
    const uploadId = this.#platform.randomHex(64);
    const created = this.#platform.now();
    const since = created - earlierExpiry(key, this.#settings.abortRules);
    const keyed = ssecKeyMd5 === undefined ? {} : { ssecKeyMd5 };
    const description = { storageClass, http, custom, ...keyed };
    this.#table.put({ key, uploadId, since, created, description, checksum });
    this.forgetDeadline();
    return { uploadId };
  }

  uploadPart(request: Request<"uploadPart">): Result<"uploadPart"> {
    const { key, uploadId, partNumber, content, checksum: expected, ssecKeyMd5 } = request;
    const upload = { key, uploadId };
    validateKey(key);
    validatePartNumber(partNumber);
    requireSameKey(this.#requireInProgress(upload).description, ssecKeyMd5);
    const checked = checkContent(content, expected);
    const { checksums } = checked;
    const etag = checksums.md5 as string;
    const { size, place, checksum } = this.#contents.add(checked);
    const part = {
      partNumber,
      size,
      etag,
      place,
      uploaded: this.#platform.now(),
      checksums,
      ...(checksum !== undefined && { checksum }),
    };
    const replaced = this.#table.putPart(upload.uploadId, part);
    if (replaced !== null) this.#objects.release([[replaced]]);
    return { partNumber, etag };
  }

  complete(request: Request<"completeUpload">): Result<"completeUpload"> {
    const { key, uploadId, parts, onlyIf, objectSize, checksum: expected } = request;
    const upload = { key, uploadId };
    validateKey(key);
    for (const { partNumber } of parts) validatePartNumber(partNumber);
    const { description, checksum } = this.#requireInProgress(upload);
    const stored = new Map(
      Iterator.from(this.#table.parts(upload.uploadId)).map((part) => [part.partNumber, part]),
    );
    const selected = selectParts(parts, stored);
    const size = selected.reduce((sum, part) => sum + part.size, 0);
    if (objectSize !== undefined && objectSize !== size) {
      throw new StoreError(
        200002,
        `The provided 'x-amz-mp-object-size' header value ${objectSize} does not match what was ` +
          `computed: ${size}`,
      );
    }
    const checksums = checksumsOfUpload(checksum, selected, expected);
    if (onlyIf !== undefined) {
      const text = this.#objects.text(key);
      const object = text === null ? null : decodeObject(key, text);
      if (!conditionHolds(onlyIf, object)) throw new StoreError(10031);
    }
    this.#table.complete(upload.uploadId, this.#platform.now());
    this.forgetDeadline();
    for (const { partNumber } of selected) stored.delete(partNumber);
    this.#objects.release([[...stored.values()]]);
    const record = {
      ...newVersion(this.#platform, key),
      size,
      etag: multipartEtag(selected),
      checksums,
      ...description,
    };
    return this.#objects.putSegments(record, selected.map(segmentOf));
  }

  abort({ key, uploadId }: Request<"abortUpload">): Result<"abortUpload"> {
    validateKey(key);
    const now = this.#platform.now();
    const found = this.#table.state({ key, uploadId });
    const state = found === null ? null : uploadStateAt(found, now);
    if (state === null) throw new StoreError(10024);
    if (state === "in progress") {
      this.#table.abortAt(uploadId, now);
      this.forgetDeadline();
    }
    return null;
  }

  list(request: Request<"listUploads">): Result<"listUploads"> {
    const now = this.#platform.now();
    return uploadPage(request, (bounds) => this.#table.inProgress(bounds, now));
  }

  listParts(request: Request<"listParts">): Result<"listParts"> {
    const { key, uploadId, afterPartNumber, limit } = request;
    const { created, description, checksum } = this.#requireInProgress({ key, uploadId });
    const parts = Iterator.from(this.#table.parts(uploadId, afterPartNumber))
      .map(({ partNumber, size, etag, uploaded, checksums }) => ({
        partNumber,
        size,
        etag,
        uploaded: uploaded ?? created,
        checksums,
      }))
      .take(limit + 1)
      .toArray();
    const { storageClass } = description;
    return {
      parts: parts.slice(0, limit),
      truncated: parts.length > limit,
      upload: { key, uploadId, created, storageClass, ...checksum },
    };
  }

  /** Moves the deadlines of the uploads in progress: the rules of the bucket have changed. */
  followRules(): void {
    const now = this.#platform.now();
    const rules = this.#settings.abortRules;
    const everyKey = { from: { key: "", inclusive: true }, end: null };
    // A query that is not read to its end must not see the rows that change.
    for (const { key, uploadId } of Array.from(this.#table.inProgress(everyKey, now))) {
      const upload = this.#table.find({ key, uploadId }) as StoredUpload;
      const since = upload.created - earlierExpiry(key, rules);
      if (since !== upload.since) this.#table.put({ ...upload, key, uploadId, since });
    }
    this.forgetDeadline();
  }

  countInProgress(): number {
    return this.#table.countInProgress(this.#platform.now());
  }

  /**
   * One step: aborts uploads that have reached their deadline, and deletes finished ones. The next
   * deadline tells whether another step is due.
   */
  expire(): void {
    const { inProgress, finished } = this.#table.due(this.#platform.now(), stepRowsMax);
    this.#table.forget(finished);
    const { removed, intact } = this.#table.removeParts(inProgress, stepRowsMax);
    this.#objects.release([intact]);
    // Otherwise there may be more parts: the uploads stay in progress until a later step.
    if (removed < stepRowsMax) this.#table.abortDue(inProgress);
    this.forgetDeadline();
  }

  /** The time, by the store's clock, at which `expire` next has an upload to expire. */
  nextDeadline(): number | null {
    return (this.#deadline ??= { time: this.#table.nextDeadline() }).time;
  }

  /** The uploads have changed, so `nextDeadline` reads the table again. */
  forgetDeadline(): void {
    this.#deadline = undefined;
  }

  /** @throws StoreError 10024 for an upload that does not exist, is finished, or has expired */
  #requireInProgress(upload: UploadReference): StoredUpload {
    const found = this.#table.find(upload);
    if (found === null || uploadStateAt(found, this.#platform.now()) !== "in progress") {
      throw new StoreError(10024);
    }
    return found;
  }
}

/** The segment of the object that a part becomes. */
function segmentOf({ size, place, etag, checksum }: UploadedPart): Segment {
  const segment = { size, place, md5: etag };
  return checksum === undefined ? segment : { ...segment, checksum };
}

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

interface StoredUpload {
  readonly state: UploadState;
  readonly since: number;
  readonly created: number;
  readonly description: ObjectDescription;
  /** The checksum that the object gets. */
  readonly checksum: UploadChecksum;
}

/** A part, and where its content is. */
interface UploadedPart extends Omit<ListedPart, "uploaded">, Omit<Segment, "md5"> {
  /** `null` for a part that an earlier version stored */
  readonly uploaded: number | null;
}

/** A new upload. */
interface NewUpload extends UploadReference, Omit<StoredUpload, "state"> {}

class UploadTable {
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
