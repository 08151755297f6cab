/**
 * A bucket at the owner's endpoint: operations, and content of any size from files and to them.
 *
 * The owner stores the content of a file that a command puts. Content whose checksums only the
 * S3-compatible interface shows is stored by this process, which can compute them.
 */
import { hash, randomUUID } from "node:crypto";
import { UserError } from "../../base/user-error.ts";
import { damagedError } from "../client/failure.ts";
import { BlobDamagedError } from "../core/blob-damage.ts";
import {
  requiredAlgorithms,
  type ChecksumAlgorithm,
  type Checksums,
  type ExpectedChecksum,
} from "../core/checksum.ts";
import { ConnectionLostError } from "../core/connection-lost.ts";
import { StoreError } from "../core/errors.ts";
import { inlineBytesMax, listLimitMax, uploadBytesMax } from "../core/limits.ts";
import type { Method } from "../core/methods.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject, decodeObjects } from "../core/object-encoding.ts";
import type {
  ObjectDescription,
  DescribedObject,
  ObjectRecord,
  Request,
  Result,
  StorageClass,
  UploadChecksum,
  UploadReference,
} from "../core/operations.ts";
import { allChecksums } from "../core/s3-checksums.ts";
import { requestHeader } from "../endpoint/protocol.ts";
import { BlobFiles, joinBytes } from "./blob-files.ts";
import { ClientBucket } from "./client-bucket.ts";
import type { ContentFiles } from "./content-files.ts";
import { largePartBytes, type FileContent } from "./file-content.ts";
import { OperationQueue } from "./operation-queue.ts";
import type { OwnerConnection } from "./owner-connection.ts";

export interface ListPage {
  readonly objects: readonly DescribedObject[];
  readonly prefixes: readonly string[];
}

/** An object and its content. A chunk of the content is valid until the next one is requested. */
export interface FetchedObject {
  readonly object: DescribedObject;
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
}

type NewObject = ObjectDescription & {
  readonly key: string;
  /** The hash that the content must have. The object stores it. */
  readonly checksum?: ExpectedChecksum;
};

/** How the content of an object was stored that is to be restored. */
export interface StoredForm {
  /** The checksums of the whole content, beside MD5. */
  readonly algorithms: readonly ChecksumAlgorithm[];
  /** Only of an upload in parts. */
  readonly upload?: UploadChecksum & {
    /** The size of each part but the last. */
    readonly partBytes: number;
    /** A checksum that the object must have. */
    readonly checksum?: ExpectedChecksum;
  };
}

interface CopyRequest {
  readonly key: string;
  readonly from: { readonly bucketName: string; readonly key: string };
  /** Default: that of the source. */
  readonly storageClass?: StorageClass;
}

/** How often a `get` is repeated when the object is replaced between its row and its files. */
const attemptsMax = 100;

export class EndpointBucket {
  readonly name: string;
  readonly #owner: OwnerConnection;
  readonly #contents: ContentFiles;
  readonly #queue: OperationQueue;

  /** @param contents is closed by the caller */
  constructor(owner: OwnerConnection, name: string, contents: ContentFiles) {
    this.name = name;
    this.#owner = owner;
    this.#contents = contents;
    this.#queue = new OperationQueue(owner, name);
  }

  /** @throws UserError with the reason of the bucket when the bucket refuses the operation */
  async call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    const outcome = await asUserError(this.#queue.execute(request));
    if (outcome.ok) return outcome.value;
    throw new UserError(`${outcome.text} (${outcome.code})`);
  }

  async head(key: string): Promise<DescribedObject | null> {
    const text = await this.call({ method: "head", key });
    return text === null ? null : decodeObject(key, text);
  }

  /** All objects in the order of their keys, in pages. */
  async *list(options: { prefix?: string; delimiter?: string } = {}): AsyncGenerator<ListPage> {
    let cursor: string | undefined;
    do {
      const page = await this.call({
        method: "list",
        prefix: options.prefix ?? "",
        delimiter: options.delimiter ?? "",
        limit: listLimitMax,
        includeHttp: true,
        includeCustom: true,
        ...(cursor !== undefined && { cursor }),
      });
      cursor = page.cursor;
      const objects = decodeObjects(page.objectsJson, { http: true, custom: true });
      yield { objects: objects as DescribedObject[], prefixes: page.prefixes };
    } while (cursor !== undefined);
  }

  /** @param onBytes is called with the number of bytes that have been sent; it may go back */
  async put(
    object: NewObject,
    file: FileContent,
    onBytes?: (count: number) => void,
  ): Promise<ObjectRecord> {
    const { checksum, ...description } = object;
    if (file.size > uploadBytesMax) {
      return this.#putParts(description, undefined, async (reference) => {
        const parts: PartReference[] = [];
        for (const range of file.parts(largePartBytes)) {
          const part = { ...reference, partNumber: parts.length + 1 };
          parts.push(await this.#send<PartReference>("part", part, file, range, onBytes));
        }
        return parts;
      });
    }
    if (file.size > inlineBytesMax) {
      const whole = { start: 0, length: file.size };
      return this.#send("put", object, file, whole, onBytes);
    }
    const bytes = file.bytes();
    const checksums: Checksums = Object.fromEntries(
      requiredAlgorithms(checksum).map((algorithm) => [algorithm, hash(algorithm, bytes)]),
    );
    const text = await this.call({ method: "put", ...object, content: { bytes, checksums } });
    // A put without a condition never returns `null`.
    return decodeObject(object.key, text as string);
  }

  /** `put`, with the checksums and the parts that the object had when it was exported. */
  async restore(
    object: ObjectDescription & { readonly key: string },
    file: FileContent,
    { algorithms, upload }: StoredForm,
  ): Promise<ObjectRecord> {
    const stored = this.#stored(this.name);
    const write = (start: number, length: number) =>
      asUserError(stored.write(file.stream(start, length), { algorithms }));
    if (upload === undefined) {
      const content = await write(0, file.size);
      const text = await this.call({ method: "put", ...object, content });
      // A put without a condition never returns `null`.
      return decodeObject(object.key, text as string);
    }
    const { partBytes, checksum, ...uploadChecksum } = upload;
    return this.#putParts({ ...object, ...uploadChecksum }, checksum, async (reference) => {
      const parts: PartReference[] = [];
      for (const { start, length } of file.parts(partBytes)) {
        const content = await write(start, length);
        const part = { ...reference, partNumber: parts.length + 1, content };
        parts.push(await this.call({ method: "uploadPart", ...part }));
      }
      return parts;
    });
  }

  /**
   * Passes an object and its content to `receive`, and again if the object is replaced before all of
   * its files are open. Returns `null` when the object does not exist.
   *
   * @throws UserError when a file of the object is missing or has another size
   */
  async get<Received>(
    key: string,
    receive: (fetched: FetchedObject) => Promise<Received>,
  ): Promise<Received | null> {
    let damaged: { readonly version: string; readonly error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const found = await this.call({ method: "get", key });
      if (found?.status !== "found") return null;
      const object = decodeObject(key, found.object);
      if (damaged !== undefined && (damaged.version === object.version || attempt > attemptsMax)) {
        throw new UserError(damagedError(key, damaged.error).message);
      }
      const files = new BlobFiles(this.#owner.folder, this.name, found.content);
      try {
        await files.open();
        return await receive({ object, content: joinBytes(found.content) ?? files.chunks() });
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw error;
        // The object may have been replaced since the answer; then its old files are removed.
        damaged = { version: object.version, error };
      } finally {
        files.close();
      }
    }
  }

  /**
   * Copies an object into this bucket. The copy has checksums of the same kinds as its source, of its
   * whole content. Returns `null` when the source does not exist.
   */
  async copy({ key, from, storageClass }: CopyRequest): Promise<ObjectRecord | null> {
    const bucket = this.#stored(from.bucketName);
    const opened = await asUserError(bucket.get({ key: from.key }));
    if (opened?.status !== "found") return null;
    const { object } = opened;
    try {
      const algorithms = Object.keys(allChecksums(object)) as ChecksumAlgorithm[];
      const content = await asUserError(
        this.#stored(this.name).copy({ bucket, opened }, algorithms),
      );
      const text = await this.call({
        method: "put",
        key,
        http: object.http,
        custom: object.custom,
        storageClass: storageClass ?? object.storageClass,
        ...(object.ssecKeyMd5 !== undefined && { ssecKeyMd5: object.ssecKeyMd5 }),
        content,
      });
      // A put without a condition never returns `null`.
      return decodeObject(key, text as string);
    } finally {
      if (!(opened.content instanceof Uint8Array)) opened.content.close();
    }
  }

  collectGarbage(): Promise<number> {
    return this.#owner.run((endpoint) => endpoint.requestJson(`/collect/${this.name}`));
  }

  /** The name of the file of the bucket's database, without its extension. */
  databaseName(): Promise<string> {
    return this.#owner.run((endpoint) =>
      endpoint.requestText(`/database/${this.name}`, { method: "GET" }),
    );
  }

  /** A bucket whose content this process reads and writes. */
  #stored(name: string): ClientBucket {
    return new ClientBucket({
      owner: this.#owner,
      contents: this.#contents,
      name,
      isDeletable: false,
    });
  }

  /** Stores an object in parts. On failure the upload is aborted. */
  async #putParts(
    object: Omit<Request<"createUpload">, "method">,
    checksum: ExpectedChecksum | undefined,
    upload: (reference: UploadReference) => Promise<PartReference[]>,
  ): Promise<ObjectRecord> {
    const { key } = object;
    const { uploadId } = await this.call({ method: "createUpload", ...object });
    try {
      const parts = await upload({ key, uploadId });
      const text = await this.call({
        method: "completeUpload",
        key,
        uploadId,
        parts,
        ...(checksum !== undefined && { checksum }),
      });
      return decodeObject(key, text);
    } catch (error) {
      await this.call({ method: "abortUpload", key, uploadId }).catch(() => {});
      throw error;
    }
  }

  #send<Value = ObjectRecord>(
    action: "put" | "part",
    description: object,
    file: FileContent,
    { start, length }: { readonly start: number; readonly length: number },
    onBytes?: (count: number) => void,
  ): Promise<Value> {
    const id = randomUUID();
    const header = Buffer.from(JSON.stringify(description)).toString("base64");
    return this.#owner.run((endpoint) =>
      endpoint.requestJson(`/${action}/${this.name}`, {
        id,
        headers: { [requestHeader]: header },
        content: { stream: file.stream(start, length, onBytes), length },
      }),
    );
  }
}

/** A command shows the reason of the store, with its code. */
async function asUserError<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ConnectionLostError) throw new UserError(error.message, { cause: error });
    if (!(error instanceof StoreError)) throw error;
    throw new UserError(`${error.message} (${error.code})`, { cause: error });
  }
}
