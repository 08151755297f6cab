/**
 * A bucket's operations, on its tables.
 *
 * Every method is synchronous: nothing else runs between its check and its write, which makes
 * each operation atomic and every condition exact. Each checks all it can before it writes.
 *
 * An operation may leave files that nothing refers to any more; `execute` hands their names back,
 * and they may be removed once the writes are durable.
 */
import { resolveRange } from "../core/byte-range.ts";
import { conditionHolds } from "../core/conditional.ts";
import { decodeCursor } from "../core/cursor.ts";
import { StoreError } from "../core/errors.ts";
import { validateMetadata } from "../core/http-metadata.ts";
import { prefixEnd, validateKey } from "../core/key.ts";
import { deleteKeysMax, listLimitMax, listPageBytesMax } from "../core/limits.ts";
import { listPage, listRun, type ListQuery, type ScanRows } from "../core/list-page.ts";
import {
  multipartEtag,
  selectParts,
  uploadDeadline,
  validatePartNumber,
} from "../core/multipart.ts";
import { decodeObject } from "../core/object-encoding.ts";
import type {
  Method,
  ObjectRecord,
  Operation,
  Outcome,
  Request,
  Result,
  UploadReference,
} from "../core/operations.ts";
import type { Clock } from "./clock.ts";
import { checkContent, ContentTable } from "./content-table.ts";
import { openTables } from "./migration.ts";
import { isEmpty } from "./schema.ts";
import { ObjectStore } from "./object-store.ts";
import { ObjectTable, type RowText } from "./object-table.ts";
import { UploadTable, type StoredUpload } from "./upload-table.ts";

export interface BucketHost {
  readonly storage: Pick<DurableObjectStorage, "sql" | "transactionSync">;
  readonly clock: Clock;
  /** As many random bytes as asked for, in hexadecimal. */
  readonly randomHex: (bytes: number) => string;
}

export interface Executed {
  /** One for each operation */
  readonly outcomes: Outcome[];
  /** Files that may be removed */
  readonly released: readonly string[];
}

export class Bucket {
  readonly #host: BucketHost;
  readonly #objects: ObjectTable;
  readonly #contents: ContentTable;
  readonly #uploads: UploadTable;
  readonly #store: ObjectStore;
  /** Asked for with every call, so looked up only after the uploads have changed. */
  #deadline: { readonly time: number | null } | undefined;

  constructor(host: BucketHost) {
    const { sql } = host.storage;
    openTables(host.storage);
    this.#host = host;
    this.#objects = new ObjectTable(sql);
    this.#contents = new ContentTable(sql);
    this.#uploads = new UploadTable(sql);
    this.#store = new ObjectStore(this.#objects, this.#contents, (write) =>
      host.storage.transactionSync(write),
    );
  }

  /**
   * Executes operations in order, in one transaction. Each is refused alone, before it has written
   * anything; if something breaks that nobody foresaw, none of them has happened.
   */
  execute(operations: readonly Operation[]): Executed {
    const attempt = (): Outcome[] => operations.map((operation) => this.#attempt(operation));
    try {
      const outcomes = needTransaction(operations) ? this.#transact(attempt) : this.#guard(attempt);
      return { outcomes, released: this.#store.takeReleased() };
    } catch (error) {
      console.error("Cannot execute a batch of operations:", error);
      const { code, message } = new StoreError(10001);
      return { outcomes: operations.map(() => ({ ok: false, code, text: message })), released: [] };
    }
  }

  #transact<T>(write: () => T): T {
    return this.#guard(() => this.#host.storage.transactionSync(write));
  }

  /** What breaks on the way is not remembered. */
  #guard<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      this.#store.rollBack();
      throw error;
    }
  }

  #attempt(operation: Operation): Outcome {
    try {
      return { ok: true, value: this.#perform(operation) };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return { ok: false, code: error.code, text: error.message };
    }
  }

  /**
   * Ends the uploads whose seven days are over, and forgets finished ones.
   *
   * @returns files that may be removed
   */
  expireUploads(): readonly string[] {
    const now = this.#host.clock.now();
    this.#transact(() => {
      for (const { uploadId, state } of this.#uploads.due(now)) {
        if (state === "in progress") this.#abort(uploadId);
        else this.#uploads.forget(uploadId);
      }
    });
    this.#deadline = undefined;
    return this.#store.takeReleased();
  }

  /** The tables have been given another state: what is in memory was true of the one before. */
  reread(): void {
    this.#store.rollBack();
    this.#deadline = undefined;
  }

  /** When `expireUploads` next has something to do, by the store's clock. */
  nextDeadline(): number | null {
    return (this.#deadline ??= { time: this.#uploads.nextDeadline() }).time;
  }

  /** About how many bytes the database has taken in since it was new; `Infinity` if long ago. */
  get bytesTaken(): number {
    return this.#store.bytesTaken;
  }

  /** Whether a new database would be as good as this one. */
  isEmpty(): boolean {
    return isEmpty(this.#host.storage.sql);
  }

  /** Which of these files no row refers to. */
  unreferenced(fileNames: readonly string[]): string[] {
    return this.#contents.unreferenced(fileNames);
  }

  #perform(operation: Operation): Result<Method> {
    switch (operation.method) {
      case "head":
        return this.#head(operation);
      case "get":
        return this.#get(operation);
      case "put":
        return this.#put(operation);
      case "delete":
        return this.#delete(operation);
      case "list":
        return this.#list(operation);
      case "createUpload":
        return this.#createUpload(operation);
      case "uploadPart":
        return this.#uploadPart(operation);
      case "completeUpload":
        return this.#completeUpload(operation);
      case "abortUpload":
        return this.#abortUpload(operation);
      case "listUploads":
        return this.#listUploads(operation);
      case "listParts":
        return this.#listParts(operation);
      case "stats":
        return { ...this.#objects.stats(), uploads: this.#uploads.countInProgress() };
    }
  }

  #head({ key }: Request<"head">): Result<"head"> {
    validateKey(key);
    return this.#store.text(key);
  }

  #get({ key, range, onlyIf }: Request<"get">): Result<"get"> {
    validateKey(key);
    const found = this.#store.find(key);
    if (found === null) return null;
    const { text, bytes } = found;
    if (range === undefined && onlyIf === undefined && bytes !== null) {
      const whole = { offset: 0, length: bytes.byteLength };
      return { status: "found", object: text, range: whole, content: [{ bytes }] };
    }
    const record = decodeObject(key, text);
    if (onlyIf !== undefined && !conditionHolds(onlyIf, record)) {
      return { status: "condition failed", object: text };
    }
    const resolved = resolveRange(range, record.size);
    return {
      status: "found",
      object: text,
      range: resolved,
      content: this.#store.read(found, resolved),
    };
  }

  #put({ key, content, onlyIf, checksum, ...description }: Request<"put">): Result<"put"> {
    validateKey(key);
    validateMetadata(description.http, description.custom);
    const checked = checkContent(content, checksum);
    if (onlyIf !== undefined) {
      const text = this.#store.text(key);
      if (!conditionHolds(onlyIf, text === null ? null : decodeObject(key, text))) return null;
    }
    const { size, checksums } = checked;
    const record: Required<ObjectRecord> = {
      ...this.#newVersion(key),
      size,
      etag: checksums.md5 as string,
      checksums,
      storageClass: description.storageClass,
      http: description.http,
      custom: description.custom,
    };
    return this.#store.put(record, checked);
  }

  #delete({ keys }: Request<"delete">): Result<"delete"> {
    if (keys.length < 1 || keys.length > deleteKeysMax) throw new StoreError(10027);
    for (const key of keys) validateKey(key);
    this.#store.remove(keys);
    return null;
  }

  #list(request: Request<"list">): Result<"list"> {
    const { limit, cursor, includeHttp, includeCustom } = request;
    validateLimit(limit);
    const include = { http: includeHttp, custom: includeCustom };
    const query: ListQuery = {
      ...request,
      ...(cursor !== undefined && { after: decodeCursor(cursor) }),
      weightMax: includeHttp || includeCustom ? listPageBytesMax : Infinity,
    };
    const scan: ScanRows<RowText> = (bounds, rowsExpected) =>
      this.#objects.scan(bounds, { include, rowsExpected });
    const run = listRun(query, (bounds, most) => this.#objects.run(bounds, include, most), scan);
    if (run !== null) {
      const { json, ...rest } = run;
      return { objectsJson: `[${json}]`, prefixes: [], ...rest };
    }
    const page = listPage(query, scan);
    return {
      objectsJson: `[${page.rows.map((row) => row.json).join(",")}]`,
      prefixes: page.prefixes,
      ...(page.cursor !== undefined && { cursor: page.cursor }),
    };
  }

  #createUpload({ key, ...description }: Request<"createUpload">): Result<"createUpload"> {
    validateKey(key);
    validateMetadata(description.http, description.custom);
    const uploadId = this.#host.randomHex(64);
    this.#uploads.add({ key, uploadId }, this.#host.clock.now(), description);
    this.#deadline = undefined;
    return { uploadId };
  }

  #uploadPart({ partNumber, content, ...upload }: Request<"uploadPart">): Result<"uploadPart"> {
    validateKey(upload.key);
    validatePartNumber(partNumber);
    this.#requireInProgress(upload);
    const checked = checkContent(content);
    const etag = checked.checksums.md5 as string;
    const { size, place } = this.#contents.add(checked);
    const replaced = this.#uploads.putPart(upload.uploadId, { partNumber, size, etag, place });
    if (replaced !== null) this.#store.release([[replaced]]);
    return { partNumber, etag };
  }

  #completeUpload({ parts, ...upload }: Request<"completeUpload">): Result<"completeUpload"> {
    validateKey(upload.key);
    for (const { partNumber } of parts) validatePartNumber(partNumber);
    const { description } = this.#requireInProgress(upload);
    const stored = new Map(
      Iterator.from(this.#uploads.parts(upload.uploadId)).map((part) => [part.partNumber, part]),
    );
    const selected = selectParts(parts, stored);
    this.#uploads.finish(upload.uploadId, "completed", this.#host.clock.now());
    this.#deadline = undefined;
    for (const { partNumber } of selected) stored.delete(partNumber);
    this.#store.release([[...stored.values()]]);
    const record: Required<ObjectRecord> = {
      ...this.#newVersion(upload.key),
      size: selected.reduce((sum, part) => sum + part.size, 0),
      etag: multipartEtag(selected),
      checksums: {},
      storageClass: description.storageClass,
      http: description.http,
      custom: description.custom,
    };
    return this.#store.putSegments(record, selected);
  }

  #abortUpload(upload: Request<"abortUpload">): Result<"abortUpload"> {
    validateKey(upload.key);
    const found = this.#uploads.find(upload);
    if (found === null) throw new StoreError(10024);
    if (found.state === "in progress") this.#abort(upload.uploadId);
    return null;
  }

  #listUploads({ prefix, after, limit }: Request<"listUploads">): Result<"listUploads"> {
    validateLimit(limit);
    const now = this.#host.clock.now();
    const uploads = Iterator.from(
      this.#uploads.inProgress({
        prefix,
        end: prefixEnd(prefix),
        ...(after !== undefined && { after }),
      }),
    )
      .filter((upload) => uploadDeadline(upload.created) > now)
      .take(limit + 1)
      .toArray();
    return { uploads: uploads.slice(0, limit), truncated: uploads.length > limit };
  }

  #listParts({ afterPartNumber, limit, ...upload }: Request<"listParts">): Result<"listParts"> {
    validateLimit(limit);
    this.#requireInProgress(upload);
    const parts = Iterator.from(this.#uploads.parts(upload.uploadId, afterPartNumber))
      .map(({ partNumber, size, etag }) => ({ partNumber, size, etag }))
      .take(limit + 1)
      .toArray();
    return { parts: parts.slice(0, limit), truncated: parts.length > limit };
  }

  #newVersion(key: string): Pick<ObjectRecord, "key" | "version" | "uploaded"> {
    return { key, version: this.#host.randomHex(16), uploaded: this.#host.clock.now() };
  }

  /**
   * The upload, if it can still be used. One whose time is over ends here and now.
   *
   * @throws StoreError 10024
   */
  #requireInProgress(upload: UploadReference): StoredUpload {
    const found = this.#uploads.find(upload);
    if (
      found === null ||
      found.state !== "in progress" ||
      uploadDeadline(found.since) <= this.#host.clock.now()
    ) {
      throw new StoreError(10024);
    }
    return found;
  }

  #abort(uploadId: string): void {
    this.#deadline = undefined;
    this.#store.release([this.#uploads.finish(uploadId, "aborted", this.#host.clock.now())]);
  }
}

/** Reads need none, and a put is safe by the order of its steps (`object-store.ts`). */
function needTransaction(operations: readonly Operation[]): boolean {
  const alone = operations.length === 1 && operations[0]?.method === "put";
  return !alone && !writesNothing(operations);
}

/** Whether there is nothing to undo in operations. */
export function writesNothing(operations: readonly Operation[]): boolean {
  return operations.every(({ method }) => reads.has(method));
}

const reads: ReadonlySet<Method> = new Set([
  "head",
  "get",
  "list",
  "listUploads",
  "listParts",
  "stats",
]);

/** @throws StoreError 10022 */
function validateLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > listLimitMax) throw new StoreError(10022);
}
