/**
 * The buckets of the store's folder: operations go to the owner, many in one request, and this process
 * reads and writes large content itself (`written-content.ts`, `blob-files.ts`).
 */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { damagedText } from "../client/failure.ts";
import { BlobDamagedError } from "../core/content.ts";
import { isComposite, type ChecksumAlgorithm, type Checksums } from "../core/checksum.ts";
import { ConnectionLostError } from "../core/fault.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { decodeObject, allChecksums } from "../core/object.ts";
import {
  bytesCarried,
  type Content,
  type DescribedObject,
  type Operation,
  type Outcome,
  type Request,
  type Result,
} from "../core/operations.ts";
import { BlobFiles, joinBytes } from "./blob-files.ts";
import { copyByRead, type Bucket, type FoundObject, type OpenedObject } from "./bucket.ts";
import { OwnerConnection, type OwnerConnectionOptions } from "./owner-connection.ts";
import { ContentFiles, ContentNotWrittenError, type WriteOptions } from "./written-content.ts";

/** The buckets of a folder, over one connection to its owner. */
export class LocalBuckets {
  readonly owner: OwnerConnection;
  readonly contents: ContentFiles;

  /** @param folder of the store */
  constructor(folder: string, options?: OwnerConnectionOptions) {
    this.owner = new OwnerConnection(folder, options);
    this.contents = new ContentFiles(folder);
  }

  /** @param isDeletable whether a request can delete the bucket */
  bucket(name: string, isDeletable = false): LocalBucket {
    return new LocalBucket(this, name, isDeletable);
  }

  /** Removes the files that crashes left. */
  async collectGarbage(bucketName: string): Promise<void> {
    await this.owner.run((endpoint) => endpoint.request(`/collect/${bucketName}`));
  }

  async close(): Promise<void> {
    await this.owner.close();
    this.contents.close();
  }
}

/** How often a `get` is repeated when the object is replaced between its row and its files. */
const attemptsMax = 100;

export class LocalBucket implements Bucket {
  readonly name: string;
  readonly isDeletable: boolean;
  readonly #store: LocalBuckets;
  readonly #queue: OperationQueue;
  #hasFolder = false;

  constructor(store: LocalBuckets, name: string, isDeletable: boolean) {
    this.name = name;
    this.isDeletable = isDeletable;
    this.#store = store;
    this.#queue = new OperationQueue(store.owner, name);
  }

  /** @throws StoreError when the bucket refuses the operation */
  async call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    const outcome = await this.#queue.execute(
      this.isDeletable ? { ...request, mustExist: true as const } : request,
    );
    if (outcome.ok) return outcome.value;
    throw new StoreError(outcome.code, outcome.text, outcome);
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
      const files = new BlobFiles(this.#store.contents.folderOf(this.name), found.content);
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
    return this.#written(() => this.#store.contents.write(this.name, body, options));
  }

  /** A whole file whose checksums are known is copied without a read. */
  async copy(source: FoundObject, algorithms: readonly ChecksumAlgorithm[]): Promise<Content> {
    const { object, range, content } = source;
    const path = content instanceof BlobFiles ? content.wholePath : null;
    const checksums = wholeChecksums(object, algorithms);
    if (path !== null && checksums !== null && range.length === object.size) {
      const { size } = object;
      const blob = await this.#written(() => this.#store.contents.copy(path, size, this.name));
      if (blob !== null) return { blob, size, checksums };
    }
    return copyByRead(this, source, algorithms);
  }

  discard(content: Content): Promise<void> {
    return this.#store.contents.discard(this.name, content);
  }

  /** Says why the disk has not taken content, and makes the folder of a bucket that is configured. */
  async #written<Written>(write: () => Promise<Written>): Promise<Written> {
    if (!this.isDeletable && !this.#hasFolder) {
      mkdirSync(this.#store.contents.folderOf(this.name), { recursive: true, mode: 0o700 });
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

interface QueuedOperation {
  readonly operation: Operation;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
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
  #scheduled = false;

  constructor(owner: OwnerConnection, bucketName: string) {
    this.#owner = owner;
    this.#bucketName = bucketName;
  }

  /** @throws ConnectionLostError when a fault loses the answer */
  async execute<M extends Method>(request: Request<M>): Promise<Outcome<M>> {
    const outcome = (await this.#add(request as Operation)) as Outcome<M>;
    const { delayMilliseconds, lost, late } = outcome.fault ?? {};
    if (delayMilliseconds !== undefined) await delay(delayMilliseconds);
    // A body that a fault breaks off is lost as a whole here.
    if (lost !== undefined || late) throw new ConnectionLostError();
    return outcome;
  }

  #add(operation: Operation): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#queued.push({ operation, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#flush();
      });
    });
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
    for (const { operation } of this.#queued.slice(0, requestOperationsMax)) {
      bytes += bytesCarried(operation);
      if (count > 0 && bytes > requestBytesMax) break;
      count++;
    }
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
