/**
 * The operations of a bucket, on its tables.
 *
 * Every method is synchronous: no other code runs between a check and the write that follows it, so
 * each operation is atomic and every condition is exact. An operation checks all it can before it
 * writes.
 *
 * An operation may leave files to which no row refers. `execute` returns their names; they may be
 * removed once the writes are durable.
 */
import { resolveRange } from "../core/byte-range.ts";
import { conditionHolds } from "../core/conditional.ts";
import { decodeCursor } from "../core/cursor.ts";
import { StoreError } from "../core/errors.ts";
import { validateMetadata } from "../core/http-metadata.ts";
import { validateKey } from "../core/key.ts";
import { deleteKeysMax, listLimitMax, listPageBytesMax } from "../core/limits.ts";
import { listPage, listRun, type ListQuery, type ScanRows } from "../core/list-page.ts";
import type { Method } from "../core/methods.ts";
import { decodeObject } from "../core/object-encoding.ts";
import type { Operation, Outcome, Request, Result } from "../core/operations.ts";
import { checkContent, ContentTable } from "./content-table.ts";
import { openTables } from "./migration.ts";
import { MultipartUploads } from "./multipart-uploads.ts";
import { ObjectRepository } from "./object-repository.ts";
import { ObjectTable, type RowText } from "./object-table.ts";
import { newVersion, type BucketPlatform } from "./platform.ts";
import { isEmpty } from "./schema.ts";

export class Bucket {
  readonly #platform: BucketPlatform;
  readonly #table: ObjectTable;
  readonly #contents: ContentTable;
  readonly #objects: ObjectRepository;
  readonly #uploads: MultipartUploads;

  constructor(platform: BucketPlatform) {
    const { storage } = platform;
    openTables(storage);
    this.#platform = platform;
    this.#table = new ObjectTable(storage.sql);
    this.#contents = new ContentTable(storage.sql);
    this.#objects = new ObjectRepository(this.#table, this.#contents, (write) =>
      storage.transactionSync(write),
    );
    this.#uploads = new MultipartUploads(platform, this.#contents, this.#objects);
  }

  /**
   * Executes operations in order, in one transaction. An operation is refused by itself, before it
   * has written anything. An unexpected error undoes the whole batch.
   */
  execute(operations: readonly Operation[]): { outcomes: Outcome[]; released: string[] } {
    const attempt = (): Outcome[] => operations.map((operation) => this.#attempt(operation));
    try {
      const outcomes = needTransaction(operations) ? this.#transact(attempt) : this.#guard(attempt);
      return { outcomes, released: this.#objects.takeReleased() };
    } catch (error) {
      console.error("Cannot execute a batch of operations:", error);
      const { code, message } = new StoreError(10001);
      return { outcomes: operations.map(() => ({ ok: false, code, text: message })), released: [] };
    }
  }

  #transact<T>(write: () => T): T {
    return this.#guard(() => this.#platform.storage.transactionSync(write));
  }

  /** Discards the state in memory when `write` fails. */
  #guard<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      this.#objects.rollBack();
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
   * One step of the expiry of uploads (`multipart-uploads.ts`). Returns the files that may be
   * removed.
   */
  expireUploads(): string[] {
    this.#transact(() => this.#uploads.expire());
    return this.#objects.takeReleased();
  }

  /** The tables have been restored to another state, so the state in memory is discarded. */
  reread(): void {
    this.#objects.rollBack();
    this.#uploads.forgetDeadline();
  }

  /** The time, by the store's clock, at which `expireUploads` next has an upload to expire. */
  nextDeadline(): number | null {
    return this.#uploads.nextDeadline();
  }

  /** About how many bytes were written since the database was new; `Infinity` if not known. */
  get bytesWritten(): number {
    return this.#contents.bytesWritten;
  }

  /** Whether a new database would hold the same. */
  isEmpty(): boolean {
    return isEmpty(this.#platform.storage.sql);
  }

  /** Those of the files to which no row refers. */
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
        validateLimit(operation.limit);
        return this.#list(operation);
      case "createUpload":
        return this.#uploads.create(operation);
      case "uploadPart":
        return this.#uploads.uploadPart(operation);
      case "completeUpload":
        return this.#uploads.complete(operation);
      case "abortUpload":
        return this.#uploads.abort(operation);
      case "listUploads":
        validateLimit(operation.limit);
        return this.#uploads.list(operation);
      case "listParts":
        validateLimit(operation.limit);
        return this.#uploads.listParts(operation);
      case "stats":
        return { ...this.#table.stats(), uploads: this.#uploads.countInProgress() };
    }
  }

  #head({ key }: Request<"head">): Result<"head"> {
    validateKey(key);
    return this.#objects.text(key);
  }

  #get({ key, range, onlyIf }: Request<"get">): Result<"get"> {
    validateKey(key);
    const found = this.#objects.find(key);
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
      content: this.#objects.read(found, resolved),
    };
  }

  #put(request: Request<"put">): Result<"put"> {
    const { key, content, onlyIf, checksum, http, custom, storageClass } = request;
    validateKey(key);
    validateMetadata(http, custom);
    const checked = checkContent(content, checksum);
    if (onlyIf !== undefined) {
      const text = this.#objects.text(key);
      if (!conditionHolds(onlyIf, text === null ? null : decodeObject(key, text))) return null;
    }
    const { size, checksums } = checked;
    const etag = checksums.md5 as string;
    const version = newVersion(this.#platform, key);
    const record = { ...version, size, etag, checksums, storageClass, http, custom };
    return this.#objects.put(record, checked);
  }

  #delete({ keys }: Request<"delete">): Result<"delete"> {
    if (keys.length < 1 || keys.length > deleteKeysMax) throw new StoreError(10027);
    for (const key of keys) validateKey(key);
    this.#objects.remove(keys);
    return null;
  }

  #list(request: Request<"list">): Result<"list"> {
    const { cursor, includeHttp, includeCustom } = request;
    const include = { http: includeHttp, custom: includeCustom };
    const query: ListQuery = {
      ...request,
      ...(cursor !== undefined && { after: decodeCursor(cursor) }),
      weightMax: includeHttp || includeCustom ? listPageBytesMax : Infinity,
    };
    const scan: ScanRows<RowText> = (bounds, rowsExpected) =>
      this.#table.scan(bounds, { include, rowsExpected });
    const run = listRun(query, (bounds, most) => this.#table.run(bounds, include, most), scan);
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
}

/** Reads need none, and the order of its writes makes a put safe (`object-repository.ts`). */
function needTransaction(operations: readonly Operation[]): boolean {
  const isSinglePut = operations.length === 1 && operations[0]?.method === "put";
  return !isSinglePut && !areReads(operations);
}

/** Whether no operation writes. */
export function areReads(operations: readonly Operation[]): boolean {
  return operations.every(({ method }) => readMethods.has(method));
}

const readMethods: ReadonlySet<Method> = new Set([
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
