/**
 * The buckets of the store's folder: operations go to the owner, many in one request, and this process
 * reads and writes large content itself (`written-content.ts`, `blob-files.ts`).
 */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beginRun, endRun, newRunId, removeEndedRuns } from "../../state/runs.ts";
import { damagedText } from "../client/failure.ts";
import { BlobDamagedError, bucketFolder, makeBlobName } from "../core/content.ts";
import { isComposite, type ChecksumAlgorithm, type Checksums } from "../core/checksum.ts";
import { ConnectionLostError } from "../core/fault.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { decodeObject, allChecksums } from "../core/object.ts";
import {
  bringsFile,
  bytesCarried,
  type Content,
  type DescribedObject,
  type Operation,
  type Outcome,
  type Request,
  type Result,
} from "../core/operations.ts";
import { BlobFiles, copyWholeFile, joinBytes } from "./blob-files.ts";
import { copyByRead, valueOf, type Bucket, type FoundObject, type OpenedObject } from "./bucket.ts";
import { OwnerConnection, type OwnerConnectionOptions } from "./owner-connection.ts";
import { ContentNotWrittenError, writeContent, type WriteOptions } from "./written-content.ts";

/**
 * The buckets of a folder, over one connection to its owner.
 *
 * For the files that the process writes, the process has a run of its own, with a record
 * (`state/runs.ts`), and its id is in the names of the files (`core/content.ts`). While the process lives,
 * the garbage collector leaves these files alone, although no row names them yet. If the process is killed,
 * its record is removed, and the files that no row names are garbage.
 */
export class LocalBuckets {
  readonly owner: OwnerConnection;
  readonly #folder: string;
  readonly #runId = newRunId();
  #hasRecord = false;

  constructor(folder: string, options?: OwnerConnectionOptions) {
    this.owner = new OwnerConnection(folder, options);
    this.#folder = folder;
  }

  /** @param isDeletable whether a request can delete the bucket */
  bucket(name: string, isDeletable = false): LocalBucket {
    return new LocalBucket(this, name, isDeletable);
  }

  filesOf(bucketName: string): string {
    return join(this.#folder, "blobs", bucketFolder(bucketName));
  }

  /**
   * The name of a new file. The record is written before the first file: see `core/content.ts`.
   *
   * @throws ContentNotWrittenError
   */
  newFileName(): string {
    try {
      if (!this.#hasRecord) beginRun(this.#folder, this.#runId);
    } catch (error) {
      throw new ContentNotWrittenError(0, error as NodeJS.ErrnoException);
    }
    this.#hasRecord = true;
    return makeBlobName(this.#runId, randomBytes(16).toString("hex"));
  }

  /** Removes the files that crashes left. */
  async collectGarbage(bucketName: string): Promise<void> {
    removeEndedRuns(this.#folder);
    await this.owner.run((endpoint) => endpoint.request(`/collect/${bucketName}`));
  }

  /** Also ends the run: files that no row names are garbage from now on. */
  async close(): Promise<void> {
    await this.owner.close();
    if (this.#hasRecord) endRun(this.#folder, this.#runId);
    this.#hasRecord = false;
  }
}

/** How often a `get` is repeated when the object is replaced between its row and its files. */
const attemptsMax = 100;

export class LocalBucket implements Bucket {
  readonly name: string;
  readonly isDeletable: boolean;
  readonly #store: LocalBuckets;
  readonly #queue: OperationQueue;
  readonly #folder: string;
  #hasFolder = false;

  constructor(store: LocalBuckets, name: string, isDeletable: boolean) {
    this.name = name;
    this.isDeletable = isDeletable;
    this.#store = store;
    this.#folder = store.filesOf(name);
    this.#queue = new OperationQueue(store.owner, name);
  }

  /** @throws StoreError when the bucket refuses the operation */
  async call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    const outcome = await this.#queue.execute(
      this.isDeletable ? { ...request, mustExist: true as const } : request,
    );
    return valueOf<M>(outcome);
  }

  /**
   * All files of the object are open when the promise resolves, so the caller gets one version.
   *
   * @throws StoreError 10001 when a file of the object is missing or has another size
   */
  async get(request: Omit<Request<"get">, "method">): Promise<OpenedObject | null> {
    const { key } = request;
    let damaged: { readonly version: string; readonly error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const found = await this.call({ method: "get", ...request });
      if (found === null) return null;
      const object = decodeObject(key, found.object);
      if (found.status !== "found") return { status: found.status, object };
      const { status, range, partsCount } = found;
      const answer = { status, object, range, ...(partsCount !== undefined && { partsCount }) };
      const bytes = joinBytes(found.content);
      if (bytes !== null) return { ...answer, content: bytes };
      if (damaged !== undefined && (damaged.version === object.version || attempt > attemptsMax)) {
        throw new StoreError(10001, damagedText(key, damaged.error));
      }
      const files = new BlobFiles(this.#folder, found.content);
      try {
        await files.open();
        return { ...answer, content: files };
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw error;
        // The object may have been replaced since the answer; then its old files are removed.
        damaged = { version: object.version, error };
      }
    }
  }

  write(body: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<Content> {
    const place = () => ({ folder: this.#folder, name: this.#store.newFileName() });
    return this.#written(() => writeContent(body, place, options));
  }

  /** A whole file whose checksums are known is copied without a read. */
  async copy(source: FoundObject, algorithms: readonly ChecksumAlgorithm[]): Promise<Content> {
    const { object, range, content } = source;
    const path = content instanceof BlobFiles ? content.wholePath : null;
    const checksums = wholeChecksums(object, algorithms);
    if (path !== null && checksums !== null && range.length === object.size) {
      const { size } = object;
      const blob = await this.#written(() => this.#copyFile(path, size));
      if (blob !== null) return { blob, size, checksums };
    }
    return copyByRead(this, source, algorithms);
  }

  async discard(content: Content): Promise<void> {
    if ("blob" in content) await rm(join(this.#folder, content.blob), { force: true });
  }

  /**
   * Copies a file without a read where the file system shares blocks. Returns the name of the copy;
   * `null` if the file does not exist any more.
   *
   * @throws ContentNotWrittenError
   */
  async #copyFile(source: string, size: number): Promise<string | null> {
    const name = this.#store.newFileName();
    const path = join(this.#folder, name);
    try {
      await copyWholeFile(source, path);
      if ((await stat(path)).size === size) return name;
      await rm(path, { force: true });
      return null;
    } catch (error) {
      await rm(path, { force: true });
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw new ContentNotWrittenError(size, error as NodeJS.ErrnoException);
    }
  }

  /** Says why the disk has not taken content, and makes the folder of a bucket that is configured. */
  async #written<Written>(write: () => Promise<Written>): Promise<Written> {
    if (!this.isDeletable && !this.#hasFolder) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#hasFolder = true;
    }
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ContentNotWrittenError)) throw error;
      if (error.code === "ENOENT" && this.isDeletable) throw new StoreError(10006);
      const { bytes, code, message } = error;
      const { problem } = await this.call({ method: "checkDisk", bytes, blobs: [] });
      // The device may have space again.
      const { text, lacksSpace } = problem ?? { text: message, lacksSpace: code === "ENOSPC" };
      throw new StoreError(10001, text, { lacksSpace });
    }
  }
}

/** The MD5 and the named checksums of a whole object; `null` when one is not known. */
function wholeChecksums(
  object: DescribedObject,
  algorithms: readonly ChecksumAlgorithm[],
): Checksums | null {
  const known = allChecksums(object);
  const named = ["md5" as const, ...algorithms].map((algorithm) => [algorithm, known[algorithm]]);
  return named.every(([, hex]) => hex !== undefined && !isComposite(hex))
    ? (Object.fromEntries(named) as Checksums)
    : null;
}

const requestsMax = 2;
const requestBytesMax = 8 * 1024 * 1024;
const requestOperationsMax = 500;

interface QueuedOperation extends PromiseWithResolvers<Outcome> {
  readonly operation: Operation;
}

/**
 * Sends the operations of one bucket to the owner. At most `requestsMax` requests are in flight.
 * Operations that are added meanwhile are sent with the next request. So a single operation does not
 * wait, and thousands share round trips and commits.
 */
export class OperationQueue {
  readonly #owner: OwnerConnection;
  readonly #bucketName: string;
  #queued: QueuedOperation[] = [];
  #requests = 0;
  /** The operations of the last request. */
  #lastCount = 0;

  constructor(owner: OwnerConnection, bucketName: string) {
    this.#owner = owner;
    this.#bucketName = bucketName;
  }

  /** @throws ConnectionLostError when a fault loses the answer */
  async execute<M extends Method>(request: Request<M>): Promise<Outcome<M>> {
    const queued = {
      operation: request as Operation,
      ...Promise.withResolvers<Outcome>(),
    };
    // The operations of one turn travel together; a single client does not wait for the end of the turn.
    const isFirst = this.#queued.push(queued) === 1;
    if (isFirst && this.#requests === 0 && this.#lastCount <= 1) this.#flush();
    else if (isFirst) setImmediate(() => this.#flush());
    const outcome = (await queued.promise) as Outcome<M>;
    const { delayMilliseconds, lost, late } = outcome.fault ?? {};
    if (delayMilliseconds !== undefined) await delay(delayMilliseconds);
    // A body that a fault breaks off is lost as a whole here.
    if (lost !== undefined || late) throw new ConnectionLostError();
    return outcome;
  }

  #flush(): void {
    while (this.#requests < requestsMax && this.#queued.length > 0) {
      this.#requests++;
      void this.#send(this.#take()).finally(() => {
        this.#requests--;
        this.#flush();
      });
    }
  }

  #take(): QueuedOperation[] {
    let bytes = 0;
    let count = 0;
    const isOfFiles = this.#queued.slice(0, 1).some(({ operation }) => bringsFile(operation));
    for (const { operation } of this.#queued.slice(0, requestOperationsMax)) {
      bytes += bytesCarried(operation);
      // An operation without a file does not wait until the files of others are durable.
      const isOther = bringsFile(operation) !== isOfFiles;
      if (count > 0 && (isOther || bytes > requestBytesMax)) break;
      count++;
    }
    this.#lastCount = count;
    return this.#queued.splice(0, count);
  }

  async #send(calls: readonly QueuedOperation[]): Promise<void> {
    try {
      const id = randomUUID();
      const operations = calls.map(({ operation }) => operation);
      const answers = await this.#owner.run((endpoint) =>
        endpoint.execute(this.#bucketName, { id, operations }),
      );
      for (const [index, { resolve }] of calls.entries()) {
        resolve(answers[index] as Outcome);
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
