/**
 * A bucket of the store's folder: operations go to the owner, and this process reads and writes large
 * content itself (`content-files.ts`, `blob-files.ts`).
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { damagedText } from "../client/failure.ts";
import { BlobDamagedError, bucketFolder } from "../core/content.ts";
import { isComposite, type ChecksumAlgorithm, type Checksums } from "../core/checksum.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { decodeObject, allChecksums } from "../core/object.ts";
import type { Content, DescribedObject, Request, Result } from "../core/operations.ts";
import { BlobFiles, joinBytes } from "./blob-files.ts";
import {
  copyContent,
  type ClientBucket,
  type CopySource,
  type FoundObject,
  type OpenedObject,
} from "./client-bucket.ts";
import type { ContentFiles } from "./content-files.ts";
import { OperationQueue } from "./operation-queue.ts";
import type { OwnerConnection } from "./owner-connection.ts";
import { ContentNotWrittenError, type WriteOptions } from "./written-content.ts";

interface OwnedBucketOptions {
  readonly owner: OwnerConnection;
  readonly contents: ContentFiles;
  readonly name: string;
  /** Whether a request can delete the bucket. */
  readonly isDeletable: boolean;
}

/** How often a `get` is repeated when the object is replaced between its row and its files. */
const attemptsMax = 100;

export class OwnedBucket implements ClientBucket {
  readonly name: string;
  readonly #owner: OwnerConnection;
  readonly #contents: ContentFiles;
  readonly #queue: OperationQueue;
  /** Whether a request can delete the bucket. */
  readonly isDeletable: boolean;
  #hasFolder = false;

  constructor({ owner, contents, name, isDeletable }: OwnedBucketOptions) {
    this.name = name;
    this.#owner = owner;
    this.#contents = contents;
    this.#queue = new OperationQueue(owner, name);
    this.isDeletable = isDeletable;
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
      const files = new BlobFiles(this.#owner.folder, this.name, found.content);
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
    return this.#written(() => this.#contents.write(this.name, body, options));
  }

  /** A whole file whose checksums are known is copied without a read. */
  async copy(
    { bucket, opened }: CopySource,
    algorithms: readonly ChecksumAlgorithm[],
  ): Promise<Content> {
    const copied = await this.#copyFile(bucket.name, opened, algorithms);
    return copied ?? copyContent(this, opened, algorithms);
  }

  discard(content: Content): Promise<void> {
    return this.#contents.discard(this.name, content);
  }

  /** `null` when the content is not a file whose checksums are known. */
  async #copyFile(
    bucketName: string,
    { object, range, content }: FoundObject,
    algorithms: readonly ChecksumAlgorithm[],
  ): Promise<Content | null> {
    const { md5 } = object.checksums;
    const blob = content instanceof BlobFiles ? content.wholeBlob : null;
    const checksums = wholeChecksums(object, algorithms);
    if (blob === null || md5 === undefined || checksums === null) return null;
    if (range.length !== object.size) return null;
    const source = { bucketName, blob, size: object.size };
    const copy = await this.#written(() => this.#contents.copy(source, this.name));
    return copy === null ? null : { blob: copy, size: object.size, checksums };
  }

  /** Says why the disk has not taken content, and makes the folder of a bucket that is configured. */
  async #written<Written>(write: () => Promise<Written>): Promise<Written> {
    if (!this.isDeletable) this.#makeFolder();
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

  #makeFolder(): void {
    if (this.#hasFolder) return;
    mkdirSync(join(this.#owner.folder, "blobs", bucketFolder(this.name)), {
      recursive: true,
      mode: 0o700,
    });
    this.#hasFolder = true;
  }
}

/** The named checksums of a whole object; `null` when one is not known. */
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
