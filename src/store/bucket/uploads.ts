/**
 * The multipart uploads of a bucket: an upload is created, receives parts, and is completed or
 * aborted. An upload that reaches its deadline is aborted (`core/multipart.ts`).
 *
 * `since` is the time at which an upload entered its state, or an earlier time for an upload that a
 * rule of the bucket lets expire earlier. The deadline is a fixed time after it: then an upload in
 * progress counts as aborted, and the row of a finished one as deleted, even before the row says so.
 *
 * Thousands of uploads can expire at once, and an upload can have thousands of parts. So `expire`
 * works in steps of a bounded number of rows. Between the steps the time decides what an upload
 * is, and not the row. To abort an upload is to move its deadline to now: the steps do the rest.
 *
 * The condition with which an upload was created holds for the object that its completion replaces, too: the
 * object may have changed in between.
 */
import {
  checksumsOfUpload,
  resolveUploadChecksum,
  type Checksums,
  type ChecksumType,
  type S3ChecksumAlgorithm,
  type UploadChecksum,
} from "../core/checksum.ts";
import { checkContent, type Segment } from "../core/content.ts";
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { StoreError } from "../core/errors.ts";
import { validateKey } from "../core/key.ts";
import { uploadLifetimeMilliseconds } from "../core/limits.ts";
import { uploadPage, type UploadBound } from "../core/list-page.ts";
import { requireSameKey, validateMetadata } from "../core/metadata.ts";
import {
  earlierExpiry,
  multipartEtag,
  selectParts,
  uploadDeadline,
  uploadStateAt,
  validatePartNumber,
  type ListedPart,
  type UploadState,
} from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import type {
  ObjectDescription,
  Request,
  Result,
  StorageClass,
  UploadRecord,
  UploadReference,
} from "../core/operations.ts";
import type { ContentTable } from "./contents.ts";
import type { BucketPlatform, Objects } from "./objects.ts";
import { firstRow, onlyRow, type SettingsTable } from "./schema.ts";

/** The rows that one step of the expiry changes: a step takes some milliseconds. */
const stepRowsMax = 200;

interface StoredUpload {
  readonly state: UploadState;
  readonly since: number;
  readonly created: number;
  readonly description: ObjectDescription;
  readonly checksum: UploadChecksum;
  /** Of the creation of the upload. */
  readonly onlyIf: Conditional | undefined;
}

/** A part, and where its content is. */
interface UploadedPart extends ListedPart, Pick<Segment, "place"> {}

export class MultipartUploads {
  readonly #platform: BucketPlatform;
  readonly #sql: SqlStorage;
  readonly #contents: ContentTable;
  readonly #objects: Objects;
  readonly #settings: SettingsTable;
  /** Every call needs the deadline, so it is read again only after the uploads have changed. */
  #deadline: { readonly time: number | null } | undefined;

  constructor(
    platform: BucketPlatform,
    contents: ContentTable,
    objects: Objects,
    settings: SettingsTable,
  ) {
    this.#platform = platform;
    this.#sql = platform.storage.sql;
    this.#settings = settings;
    this.#contents = contents;
    this.#objects = objects;
  }

  create({
    key,
    storageClass,
    http,
    custom,
    ssecKeyMd5,
    onlyIf,
    ...requested
  }: Request<"createUpload">): Result<"createUpload"> {
    validateKey(key);
    validateMetadata(http, custom);
    this.#requireConditions(key, [onlyIf]);
    const { checksumAlgorithm = null, checksumType = null } = resolveUploadChecksum(requested);
    const uploadId = this.#platform.randomHex(64);
    const created = this.#platform.now();
    this.#sql.exec(
      "INSERT INTO uploads (upload_id, key, since, created, storage_class, http, custom, " +
        "checksum_algorithm, checksum_type, ssec_key_md5, only_if, state) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'in progress')",
      uploadId,
      key,
      created - earlierExpiry(key, this.#settings.abortRules),
      created,
      storageClass,
      JSON.stringify(http),
      JSON.stringify(custom),
      checksumAlgorithm,
      checksumType,
      ssecKeyMd5 ?? null,
      onlyIf === undefined ? null : JSON.stringify(onlyIf),
    );
    this.forgetDeadline();
    return { uploadId };
  }

  uploadPart(request: Request<"uploadPart">): Result<"uploadPart"> {
    const { key, uploadId, partNumber, content, checksum: expected, ssecKeyMd5 } = request;
    validateKey(key);
    validatePartNumber(partNumber);
    requireSameKey(this.#requireInProgress({ key, uploadId }).description, ssecKeyMd5);
    checkContent(content, expected);
    const { md5: etag, ...others } = content.checksums;
    const { size, place } = this.#contents.add(content);
    const [replaced] = this.#parts("WHERE upload_id = ? AND part_number = ?", uploadId, partNumber);
    this.#sql.exec(
      "INSERT OR REPLACE INTO parts (upload_id, part_number, size, etag, place, uploaded, checksums) " +
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
      uploadId,
      partNumber,
      size,
      etag,
      place,
      this.#platform.now(),
      Object.keys(others).length > 0 ? JSON.stringify(others) : null,
    );
    if (replaced !== undefined) this.#objects.release([[replaced]]);
    return { partNumber, etag: etag as string };
  }

  complete(request: Request<"completeUpload">): Result<"completeUpload"> {
    const { key, uploadId, parts, onlyIf, objectSize } = request;
    validateKey(key);
    for (const { partNumber } of parts) validatePartNumber(partNumber);
    const { description, checksum, ...created } = this.#requireInProgress({ key, uploadId });
    const stored = new Map(
      Iterator.from(this.#partsAfter(uploadId, 0)).map((part) => [part.partNumber, part]),
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
    const checksums = checksumsOfUpload(checksum, selected, request);
    this.#requireConditions(key, [created.onlyIf, onlyIf]);
    const now = this.#platform.now();
    this.#sql.exec(
      "UPDATE uploads SET state = 'completed', since = ? WHERE upload_id = ?",
      now,
      uploadId,
    );
    this.#sql.exec("DELETE FROM parts WHERE upload_id = ?", uploadId);
    this.forgetDeadline();
    for (const { partNumber } of selected) stored.delete(partNumber);
    this.#objects.release([[...stored.values()]]);
    const record = {
      key,
      version: this.#platform.randomHex(16),
      uploaded: now,
      size,
      etag: multipartEtag(selected),
      checksums,
      ...description,
    };
    return this.#objects.putSegments(
      record,
      selected.map(({ size: bytes, place, etag }) => ({ size: bytes, place, md5: etag })),
    );
  }

  abort({ key, uploadId }: Request<"abortUpload">): Result<"abortUpload"> {
    validateKey(key);
    const now = this.#platform.now();
    const found = this.#find({ key, uploadId });
    const state = found === null ? null : uploadStateAt(found, now);
    if (state === null) throw new StoreError(10024);
    if (state === "in progress") this.#setSince(uploadId, now - uploadLifetimeMilliseconds);
    return null;
  }

  list(request: Request<"listUploads">): Result<"listUploads"> {
    return uploadPage(request, (bounds) => this.#inProgress(bounds));
  }

  listParts(request: Request<"listParts">): Result<"listParts"> {
    const { key, uploadId, afterPartNumber, limit } = request;
    const { created, description, checksum } = this.#requireInProgress({ key, uploadId });
    const parts = Iterator.from(this.#partsAfter(uploadId, afterPartNumber))
      .map((part): ListedPart => {
        const { place: _, ...listed } = part;
        return listed;
      })
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
    const everyKey = { from: { key: "", inclusive: true }, end: null };
    // A query that is not read to its end must not see the rows that change.
    for (const { key, uploadId, created } of Array.from(this.#inProgress(everyKey))) {
      this.#setSince(uploadId, created - earlierExpiry(key, this.#settings.abortRules));
    }
  }

  countInProgress(): number {
    const [count] = onlyRow<[number]>(
      this.#sql.exec(
        "SELECT count(*) FROM uploads WHERE state = 'in progress' AND since > ?",
        this.#lastExpired(),
      ),
    );
    return count;
  }

  /**
   * One step: aborts uploads that have reached their deadline, and deletes finished ones. The next
   * deadline tells whether another step is due.
   */
  expire(): void {
    const rows = this.#sql
      .exec(
        "SELECT upload_id, state FROM uploads WHERE since <= ? ORDER BY since LIMIT ?",
        this.#lastExpired(),
        stepRowsMax,
      )
      .raw<[string, UploadState]>();
    const due = Array.from(rows);
    const { inProgress = [], finished = [] } = Object.groupBy(due, ([, state]) =>
      state === "in progress" ? "inProgress" : "finished",
    );
    const idsOf = (uploads: typeof due): string => JSON.stringify(uploads.map(([id]) => id));
    this.#sql.exec(
      "DELETE FROM uploads WHERE upload_id IN (SELECT value FROM json_each(?))",
      idsOf(finished),
    );
    const removed = this.#sql
      .exec(
        "DELETE FROM parts WHERE (upload_id, part_number) IN (" +
          "SELECT upload_id, part_number FROM parts " +
          "WHERE upload_id IN (SELECT value FROM json_each(?)) LIMIT ?) " +
          "RETURNING place",
        idsOf(inProgress),
        stepRowsMax,
      )
      .raw<[number | string]>();
    const places = Array.from(removed, ([place]) => ({ place }));
    this.#objects.release([places]);
    // Otherwise there may be more parts: the uploads stay in progress until a later step.
    if (places.length < stepRowsMax) {
      this.#sql.exec(
        "UPDATE uploads SET state = 'aborted', since = since + ? " +
          "WHERE upload_id IN (SELECT value FROM json_each(?))",
        uploadLifetimeMilliseconds,
        idsOf(inProgress),
      );
    }
    this.forgetDeadline();
  }

  /** The time, by the store's clock, at which `expire` next has an upload to expire. */
  nextDeadline(): number | null {
    return (this.#deadline ??= { time: this.#readDeadline() }).time;
  }

  #readDeadline(): number | null {
    const [since] = onlyRow<[number | null]>(this.#sql.exec("SELECT min(since) FROM uploads"));
    return since === null ? null : uploadDeadline(since);
  }

  /** The uploads have changed, so `nextDeadline` reads the table again. */
  forgetDeadline(): void {
    this.#deadline = undefined;
  }

  /** An upload that has entered its state at this time, or before, has reached its deadline. */
  #lastExpired(): number {
    return this.#platform.now() - uploadLifetimeMilliseconds;
  }

  #setSince(uploadId: string, since: number): void {
    this.#sql.exec("UPDATE uploads SET since = ? WHERE upload_id = ?", since, uploadId);
    this.forgetDeadline();
  }

  /** @throws StoreError 10024 for an upload that does not exist, is finished, or has expired */
  #requireInProgress(upload: UploadReference): StoredUpload {
    const found = this.#find(upload);
    if (found === null || uploadStateAt(found, this.#platform.now()) !== "in progress") {
      throw new StoreError(10024);
    }
    return found;
  }

  /** @throws StoreError 10031 */
  #requireConditions(key: string, conditions: readonly (Conditional | undefined)[]): void {
    const given = conditions.filter((condition) => condition !== undefined);
    if (given.length === 0) return;
    const text = this.#objects.text(key);
    const object = text === null ? null : decodeObject(key, text);
    if (!given.every((each) => conditionHolds(each, object))) throw new StoreError(10031);
  }

  #find({ key, uploadId }: UploadReference): StoredUpload | null {
    const row = firstRow<
      [
        ...[state: UploadState, since: number, created: number, storageClass: StorageClass],
        ...[http: string, custom: string, ssecKeyMd5: string | null, onlyIf: string | null],
        ...ChecksumColumns,
      ]
    >(
      this.#sql.exec(
        "SELECT state, since, created, storage_class, http, custom, ssec_key_md5, only_if, " +
          "checksum_algorithm, checksum_type FROM uploads WHERE upload_id = ? AND key = ?",
        uploadId,
        key,
      ),
    );
    if (row === undefined) return null;
    const [state, since, created, storageClass, http, custom, ssecKeyMd5, onlyIf, ...checksum] =
      row;
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
      onlyIf: onlyIf === null ? undefined : JSON.parse(onlyIf),
    };
  }

  /** Uploads in progress in order of key and age, read as the caller iterates. */
  *#inProgress({ from, end }: { from: UploadBound; end: string | null }): Generator<UploadRecord> {
    const rows = this.#sql
      .exec(
        "SELECT upload_id, key, created, storage_class, checksum_algorithm, checksum_type FROM uploads " +
          "WHERE state = 'in progress' AND (key, since, upload_id) > (?, ?, ?) " +
          "AND (?4 IS NULL OR key < ?4) AND since > ?5 ORDER BY key, since, upload_id",
        ...this.#lowerBound(from),
        end,
        this.#lastExpired(),
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
    return [key, this.#find({ key, uploadId })?.since ?? first, uploadId];
  }

  #partsAfter(uploadId: string, partNumber: number): Iterable<UploadedPart> {
    const where = "WHERE upload_id = ? AND part_number > ? ORDER BY part_number";
    return this.#parts(where, uploadId, partNumber);
  }

  /** Parts, read as the caller iterates. */
  *#parts(where: string, uploadId: string, partNumber: number): Generator<UploadedPart> {
    const columns = "part_number, size, etag, place, uploaded, checksums";
    const rows = this.#sql
      .exec(`SELECT ${columns} FROM parts ${where}`, uploadId, partNumber)
      .raw<[number, number, string, number | string, number, string | null]>();
    for (const [number, size, etag, place, uploaded, others] of rows) {
      const checksums: Checksums = { md5: etag, ...(others !== null && JSON.parse(others)) };
      yield { partNumber: number, size, etag, place, uploaded, checksums };
    }
  }
}

type ChecksumColumns = [algorithm: S3ChecksumAlgorithm | null, type: ChecksumType | null];

function uploadChecksum([checksumAlgorithm, checksumType]: ChecksumColumns): UploadChecksum {
  return checksumAlgorithm === null || checksumType === null
    ? {}
    : { checksumAlgorithm, checksumType };
}
