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
import { conditionHolds, type Conditional } from "../core/conditional.ts";
import { checkContent } from "../core/content.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { validateKey } from "../core/key.ts";
import { deleteKeysMax } from "../core/limits.ts";
import { validateLimit } from "../core/list-page.ts";
import { validateMetadata } from "../core/metadata.ts";
import { decodeObject, type NewObject } from "../core/object.ts";
import {
  areReads,
  blobsOf,
  isRead,
  type Operation,
  type Outcome,
  type Request,
  type Result,
} from "../core/operations.ts";
import { RequestOutcomes } from "../../state/outcomes.ts";
import { ContentTable, ReleasedFiles } from "./contents.ts";
import { countObjects, hasObjects, listObjects } from "./object-list.ts";
import { ObjectLifecycle } from "./object-lifecycle.ts";
import { Objects, type BucketPlatform } from "./objects.ts";
import { isEmpty, openTables, renewDatabaseId, SettingsTable } from "./schema.ts";
import { MultipartUploads } from "./uploads.ts";

export class Bucket {
  /** Names the database in the folder of the files. */
  databaseId: string;
  /** The generation of the database when it was opened. */
  readonly openedGeneration: number;
  readonly #platform: BucketPlatform;
  readonly contents: ContentTable;
  readonly #objects: Objects;
  readonly uploads: MultipartUploads;
  readonly #lifecycle: ObjectLifecycle;
  readonly requests: RequestOutcomes;
  readonly #settings: SettingsTable;
  readonly releasedFiles: ReleasedFiles;

  constructor(platform: BucketPlatform) {
    const { storage, bucketName, runId } = platform;
    const { databaseId, generation } = openTables(storage, bucketName);
    this.databaseId = databaseId;
    this.openedGeneration = generation;
    this.#platform = platform;
    this.releasedFiles = new ReleasedFiles(storage.sql, runId);
    this.contents = new ContentTable(storage.sql, this.releasedFiles);
    this.#objects = new Objects(storage, this.contents);
    this.#settings = new SettingsTable(storage.sql);
    this.uploads = new MultipartUploads(platform, this.contents, this.#objects, this.#settings);
    this.#lifecycle = new ObjectLifecycle(platform, this.#objects, this.#settings);
    this.requests = new RequestOutcomes(storage.sql);
  }

  /**
   * Executes operations in order, in one transaction. An operation is refused by itself, before it
   * has written anything. An unexpected error undoes the whole batch.
   *
   * A repeated request fails when its id is stored a second time, at the latest. So the id is looked up after a
   * failure: most requests are not repeated, and need no query. On a full disk the id is looked up first, because
   * a write that fails there ends the object.
   *
   * @param requestId of a request from another process, which may be a repetition
   * @param refused the writes that are not executed, because the disk is full
   */
  execute(
    operations: readonly Operation[],
    requestId?: string,
    refused?: RefusedWrites,
  ): { outcomes: Outcome[]; released: string[] } {
    // The id of a batch is stored with its writes: a batch that only reads does not write its id.
    const hasWrites = requestId !== undefined && refused?.areAll !== true && !areReads(operations);
    const id = hasWrites ? requestId : undefined;
    const repeated = refused === undefined ? null : this.#repeated(operations, id);
    if (repeated !== null) return { outcomes: repeated, released: this.unusedBlobs(operations) };
    const attempt = (): Outcome[] => this.#attemptAll(operations, id, refused);
    // Reads need no transaction, and the order of its writes makes a put safe (`objects.ts`).
    const isSinglePut = operations.length === 1 && operations[0]?.method === "put";
    const needsTransaction = id !== undefined || !(isSinglePut || areReads(operations));
    try {
      const outcomes = needsTransaction
        ? this.#platform.storage.transactionSync(attempt)
        : attempt();
      const released = this.#objects.takeReleased();
      // A refused write, or a conditional write whose condition does not hold, stores nothing.
      const isCommitted = outcomes.every((outcome) => outcome.ok && outcome.value !== null);
      if (!isCommitted) released.push(...this.unusedBlobs(operations));
      return { outcomes, released };
    } catch (error) {
      this.reread();
      const outcomes = this.#repeated(operations, id) ?? this.#allUnexpected(operations, error);
      return { outcomes, released: this.unusedBlobs(operations) };
    }
  }

  /** The outcomes of the first execution of a repeated request; `null` for a new request. */
  #repeated(operations: readonly Operation[], id: string | undefined): Outcome[] | null {
    try {
      const known = id === undefined ? null : this.requests.find(id);
      if (known === null) return null;
      const first = JSON.parse(known) as (Outcome | null)[];
      return operations.map((operation, index) => first[index] ?? this.#attempt(operation));
    } catch {
      // The database does not answer: the caller is told the error before.
      return null;
    }
  }

  #allUnexpected(operations: readonly Operation[], error: unknown): Outcome[] {
    console.error("Cannot execute a batch of operations:", error);
    return operations.map(() => this.#unexpected(error));
  }

  read(operations: readonly Operation[]): Outcome[] {
    return operations.map((operation) => this.#attempt(operation));
  }

  #attemptAll(
    operations: readonly Operation[],
    requestId: string | undefined,
    refused: RefusedWrites | undefined,
  ): Outcome[] {
    const outcomes = operations.map(
      (operation) => refused?.outcomeOf(operation) ?? this.#attempt(operation),
    );
    if (requestId !== undefined) {
      const ofWrites = outcomes.map((outcome, index) =>
        isRead(operations[index] as Operation) ? null : outcome,
      );
      this.requests.add(requestId, JSON.stringify(ofWrites));
    }
    return outcomes;
  }

  /**
   * The files that the operations bring and that no row names: the bucket has refused an operation,
   * or a repeated request brings another file. Their writer does not use them any more.
   */
  unusedBlobs(operations: readonly Operation[]): string[] {
    const names = operations.flatMap(blobsOf);
    try {
      return names.length === 0 ? [] : this.contents.unreferenced(names);
    } catch {
      // The database does not answer, so the files stay: a row may name them.
      return [];
    }
  }

  /** The outcome of an operation after an error that no rule of the store explains. */
  #unexpected(error: unknown, key?: string): Outcome {
    const { bucketName, databasePath } = this.#platform;
    const { code, message } = new StoreError(10001);
    const reason = error instanceof Error ? error.message : "";
    const text = isDatabaseDamage(reason)
      ? `Cannot read ${key === undefined ? "objects" : `"${key}"`}: SQLite cannot read the ` +
        `database of bucket "${bucketName}" (${reason}). Run "ledge store check ${bucketName}", ` +
        `and restore ${databasePath} from a backup.`
      : message;
    return { ok: false, code, text };
  }

  #attempt(operation: Operation): Outcome {
    try {
      if (operation.mustExist && this.#settings.isDeleted) throw new StoreError(10006);
      this.#platform.requireFile(operation);
      return { ok: true, value: this.#perform(operation) };
    } catch (error) {
      if (error instanceof StoreError) {
        const { code, message: text, objectSize, reason } = error;
        return {
          ok: false,
          code,
          text,
          ...(objectSize !== undefined && { objectSize }),
          ...(reason !== undefined && { reason }),
        };
      }
      if (!isRead(operation)) throw error;
      // A read has nothing to undo, and other operations may read intact pages.
      console.error(`Cannot execute ${operation.method}:`, error);
      return this.#unexpected(error, "key" in operation ? operation.key : undefined);
    }
  }

  /** The time, by the store's clock, at which `expire` next has an upload or objects to expire. */
  nextDeadline(): number | null {
    const [ofUploads, ofObjects] = [this.uploads.nextDeadline(), this.#lifecycle.nextDeadline()];
    return ofObjects === null ? ofUploads : Math.min(ofObjects, ofUploads ?? Infinity);
  }

  /** One step. Returns the files that may be removed. */
  expire(): string[] {
    const ofUploads = this.uploads.nextDeadline();
    const isOfUploads = ofUploads !== null && ofUploads <= this.#platform.now();
    try {
      this.#platform.storage.transactionSync(() =>
        isOfUploads ? this.uploads.expire() : this.#lifecycle.step(),
      );
    } catch (error) {
      this.reread();
      throw error;
    }
    return this.#objects.takeReleased();
  }

  /** The tables have been restored to another state, so the state in memory is discarded. */
  reread(): void {
    this.#objects.rollBack();
    this.#settings.forget();
    this.uploads.forgetDeadline();
    this.#lifecycle.forget();
  }

  renewDatabaseId(): void {
    this.databaseId = renewDatabaseId(this.#platform.storage.sql);
  }

  /** Whether a new database would hold the same, except for the requests. */
  isEmpty(): boolean {
    return isEmpty(this.#platform.storage.sql);
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
        return listObjects(this.#platform.storage.sql, operation);
      case "createUpload":
        return this.uploads.create(operation);
      case "uploadPart":
        return this.uploads.uploadPart(operation);
      case "completeUpload":
        return this.uploads.complete(operation);
      case "abortUpload":
        return this.uploads.abort(operation);
      case "listUploads":
        validateLimit(operation.limit);
        return this.uploads.list(operation);
      case "listParts":
        validateLimit(operation.limit);
        return this.uploads.listParts(operation);
      case "getSettings":
        return this.#settings.settings();
      case "putSettings":
        this.#settings.put(operation);
        if (operation.lifecycle !== undefined) {
          this.uploads.followRules();
          this.#lifecycle.forget();
        }
        return null;
      case "createBucket":
        this.#settings.unmarkDeleted();
        return null;
      case "deleteBucket":
        if (hasObjects(this.#platform.storage.sql) || this.uploads.countInProgress() > 0) {
          throw new StoreError(10008);
        }
        this.#settings.markDeleted();
        return null;
      case "stats":
        return {
          ...countObjects(this.#platform.storage.sql, operation),
          uploads: this.uploads.countInProgress(),
        };
      case "checkDisk":
        // `bucket-object.ts` answers this operation: a bucket knows its tables only.
        return { problem: null };
    }
  }

  #head({ key }: Request<"head">): Result<"head"> {
    validateKey(key);
    return this.#objects.text(key);
  }

  #get({ key, range, onlyIf, partNumber, verify }: Request<"get">): Result<"get"> {
    validateKey(key);
    const found = this.#objects.find(key);
    if (found === null) return null;
    const { text, bytes } = found;
    if (bytes !== null && (range ?? onlyIf ?? partNumber ?? verify) === undefined) {
      const whole = { offset: 0, length: bytes.byteLength };
      return { status: "found", object: text, range: whole, content: [{ bytes }] };
    }
    const record = decodeObject(key, text);
    if (onlyIf !== undefined && !conditionHolds(onlyIf, record)) {
      return { status: "condition failed", object: text };
    }
    const part = partNumber === undefined ? null : this.#objects.part(found, record, partNumber);
    const resolved = part?.range ?? resolveRange(range, record.size);
    const content = this.#objects.read(found, record, resolved, verify);
    const { partsCount } = part ?? {};
    return {
      status: "found",
      object: text,
      range: resolved,
      content,
      ...(partsCount !== undefined && { partsCount }),
    };
  }

  #put(request: Request<"put">): Result<"put"> {
    const { key, content, onlyIf, checksum, http, custom, storageClass, ssecKeyMd5 } = request;
    validateKey(key);
    validateMetadata(http, custom);
    const size = checkContent(content, checksum);
    if (onlyIf !== undefined) {
      const text = this.#objects.text(key);
      if (!conditionHolds(onlyIf, text === null ? null : decodeObject(key, text))) return null;
    }
    const { checksums } = content;
    const { randomHex, now } = this.#platform;
    const record: NewObject = {
      key,
      version: randomHex(16),
      size,
      etag: checksums.md5 as string,
      uploaded: now(),
      checksums,
      storageClass,
      http,
      custom,
      ssecKeyMd5,
    };
    return this.#objects.put(record, content);
  }

  #delete({ keys, onlyIf }: Request<"delete">): Result<"delete"> {
    if (keys.length < 1 || keys.length > deleteKeysMax) throw new StoreError(10027);
    for (const key of keys) validateKey(key);
    if (onlyIf !== undefined) this.#requireCondition(keys[0] as string, onlyIf);
    this.#objects.remove(keys);
    return null;
  }

  #requireCondition(key: string, condition: Conditional): void {
    const text = this.#objects.text(key);
    if (text === null || conditionHolds(condition, decodeObject(key, text))) return;
    throw new StoreError(10031);
  }
}

/** By the text of SQLite's errors: workerd passes no code. */
function isDatabaseDamage(message: string): boolean {
  return /SQLITE_(CORRUPT|NOTADB)/.test(message);
}

/** The writes of a batch that are refused before they are executed. */
export interface RefusedWrites {
  outcomeOf(operation: Operation): Outcome | null;
  /** Whether no write is left, so that the batch only reads. */
  readonly areAll: boolean;
}
