/**
 * The multipart uploads of a bucket: an upload is created, receives parts, and is completed or
 * aborted. An upload that reaches its deadline is aborted (`core/multipart.ts`).
 *
 * Thousands of uploads can expire at once, and an upload can have thousands of parts. So `expire`
 * works in steps of a bounded number of rows. Between the steps the time decides what an upload
 * is, and not the row. To abort an upload is to move its deadline to now: the steps do the rest.
 */
import { checkContent } from "../core/content.ts";
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
} from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import type { Request, Result, UploadReference } from "../core/operations.ts";
import { checksumsOfUpload, resolveUploadChecksum } from "../core/checksum.ts";
import { uploadPage } from "../core/list-page.ts";
import type { ContentTable } from "./contents.ts";
import type { Objects, BucketPlatform } from "./objects.ts";
import type { SettingsTable } from "./schema.ts";
import { type StoredUpload, UploadTable } from "./upload-table.ts";

/** The rows that one step of the expiry changes: a step takes some milliseconds. */
const stepRowsMax = 200;

export class MultipartUploads {
  readonly #platform: BucketPlatform;
  readonly #table: UploadTable;
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
    const description = { storageClass, http, custom, ssecKeyMd5 };
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
    const { size, place } = this.#contents.add(checked);
    const uploaded = this.#platform.now();
    const part = { partNumber, size, etag, place, uploaded, checksums };
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
      key,
      version: this.#platform.randomHex(16),
      uploaded: this.#platform.now(),
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
    const found = this.#table.find({ key, uploadId });
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
        uploaded,
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
    const removed = this.#table.removeParts(inProgress, stepRowsMax);
    this.#objects.release([removed]);
    // Otherwise there may be more parts: the uploads stay in progress until a later step.
    if (removed.length < stepRowsMax) this.#table.abortDue(inProgress);
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
