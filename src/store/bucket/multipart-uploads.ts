/**
 * The multipart uploads of a bucket: an upload is created, receives parts, and is completed or
 * aborted. An upload that reaches its deadline is aborted (`core/multipart.ts`).
 *
 * Thousands of uploads can expire at once, and an upload can have thousands of parts. So `expire`
 * works in steps of a bounded number of rows. Between the steps the time decides what an upload
 * is, and not the row. To abort an upload is to move its deadline to now: the steps do the rest.
 */
import { StoreError } from "../core/errors.ts";
import { validateMetadata } from "../core/http-metadata.ts";
import { prefixEnd, validateKey } from "../core/key.ts";
import {
  multipartEtag,
  selectParts,
  uploadStateAt,
  validatePartNumber,
} from "../core/multipart.ts";
import type { Request, Result, UploadReference } from "../core/operations.ts";
import { checkContent, type ContentTable } from "./content-table.ts";
import type { ObjectRepository } from "./object-repository.ts";
import { newVersion, type BucketPlatform } from "./platform.ts";
import { UploadTable, type StoredUpload } from "./upload-table.ts";

/** The rows that one step of the expiry changes: a step takes some milliseconds. */
const stepRowsMax = 200;

export class MultipartUploads {
  readonly #platform: BucketPlatform;
  readonly #table: UploadTable;
  readonly #contents: ContentTable;
  readonly #objects: ObjectRepository;
  /** Every call needs the deadline, so it is read again only after the uploads have changed. */
  #deadline: { readonly time: number | null } | undefined;

  constructor(platform: BucketPlatform, contents: ContentTable, objects: ObjectRepository) {
    this.#platform = platform;
    this.#table = new UploadTable(platform.storage.sql);
    this.#contents = contents;
    this.#objects = objects;
  }

  create({ key, ...description }: Request<"createUpload">): Result<"createUpload"> {
    validateKey(key);
    validateMetadata(description.http, description.custom);
    const uploadId = this.#platform.randomHex(64);
    this.#table.add({ key, uploadId }, this.#platform.now(), description);
    this.forgetDeadline();
    return { uploadId };
  }

  uploadPart({ partNumber, content, ...upload }: Request<"uploadPart">): Result<"uploadPart"> {
    validateKey(upload.key);
    validatePartNumber(partNumber);
    this.#requireInProgress(upload);
    const checked = checkContent(content);
    const etag = checked.checksums.md5 as string;
    const { size, place, checksum } = this.#contents.add(checked);
    const part = { partNumber, size, etag, place, ...(checksum !== undefined && { checksum }) };
    const replaced = this.#table.putPart(upload.uploadId, part);
    if (replaced !== null) this.#objects.release([[replaced]]);
    return { partNumber, etag };
  }

  complete({ parts, ...upload }: Request<"completeUpload">): Result<"completeUpload"> {
    validateKey(upload.key);
    for (const { partNumber } of parts) validatePartNumber(partNumber);
    const { description } = this.#requireInProgress(upload);
    const stored = new Map(
      Iterator.from(this.#table.parts(upload.uploadId)).map((part) => [part.partNumber, part]),
    );
    const selected = selectParts(parts, stored);
    this.#table.complete(upload.uploadId, this.#platform.now());
    this.forgetDeadline();
    for (const { partNumber } of selected) stored.delete(partNumber);
    this.#objects.release([[...stored.values()]]);
    const record = {
      ...newVersion(this.#platform, upload.key),
      size: selected.reduce((sum, part) => sum + part.size, 0),
      etag: multipartEtag(selected),
      checksums: {},
      ...description,
    };
    const segments = selected.map((part) => ({ ...part, md5: part.etag }));
    return this.#objects.putSegments(record, segments);
  }

  abort(upload: Request<"abortUpload">): Result<"abortUpload"> {
    validateKey(upload.key);
    const now = this.#platform.now();
    const found = this.#table.state(upload);
    const state = found === null ? null : uploadStateAt(found, now);
    if (state === null) throw new StoreError(10024);
    if (state === "in progress") {
      this.#table.abortAt(upload.uploadId, now);
      this.forgetDeadline();
    }
    return null;
  }

  list({ prefix, after, limit }: Request<"listUploads">): Result<"listUploads"> {
    const uploads = Iterator.from(
      this.#table.inProgress({
        prefix,
        end: prefixEnd(prefix),
        ...(after?.uploadId !== undefined && { after: after as UploadReference }),
        now: this.#platform.now(),
      }),
    )
      .take(limit + 1)
      .toArray();
    return { uploads: uploads.slice(0, limit), prefixes: [], truncated: uploads.length > limit };
  }

  listParts({ afterPartNumber, limit, ...upload }: Request<"listParts">): Result<"listParts"> {
    const { description, since } = this.#requireInProgress(upload);
    const parts = Iterator.from(this.#table.parts(upload.uploadId, afterPartNumber))
      .map(({ partNumber, size, etag }) => ({
        partNumber,
        size,
        etag,
        uploaded: since,
        checksums: { md5: etag },
      }))
      .take(limit + 1)
      .toArray();
    return {
      parts: parts.slice(0, limit),
      truncated: parts.length > limit,
      upload: { ...upload, created: since, storageClass: description.storageClass },
    };
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
