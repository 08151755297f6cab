/**
 * The buckets of this process that are on S3 services. This process talks to the services itself: no
 * runtime and no database of the store's folder takes part. The buckets share connections, and a folder for
 * large content.
 *
 * What a service honours is found out at a start, or at the first write (`kept-features.ts`); after a failure, the
 * next use asks again.
 */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../base/user-error.ts";
import { OwnFolder } from "../../state/runs.ts";
import type { ChecksumAlgorithm } from "../core/checksum.ts";
import { failureOf, StoreError } from "../core/errors.ts";
import { deleteKeysMax } from "../core/limits.ts";
import { decodeObjects } from "../core/object.ts";
import type { Content, Request, Result } from "../core/operations.ts";
import { confirmFeatures, requireBucket } from "../remote/probe.ts";
import { needsFeatures, RemoteBucket } from "../remote/remote-bucket.ts";
import type { Spool } from "../remote/remote-context.ts";
import {
  noFeatures,
  type RemoteAccess,
  type RemoteCredentials,
  type RemoteFeatures,
  type RemotePlace,
} from "../remote/remote-options.ts";
import { missingKeysSentence } from "../remote/remote-sentences.ts";
import { S3Connection } from "../remote/s3-connection.ts";
import { RemoteError, type S3Transport } from "../remote/s3-transport.ts";
import {
  copyByRead,
  valueOf,
  type Bucket,
  type BucketMethod,
  type FoundObject,
  type OpenContent,
  type OpenedObject,
} from "./bucket.ts";
import { createHttpTransport } from "./http-transport.ts";
import { findFeatures, type FindOptions } from "./kept-features.ts";
import { ContentNotWrittenError, writeContent, type WriteOptions } from "./written-content.ts";

export class RemoteBuckets {
  readonly #transport = createHttpTransport();
  readonly #spool = new SpoolFolder();
  readonly #known = new Map<string, { readonly access: RemoteAccess; readonly bucket: Bucket }>();
  readonly #storeFolder: string;

  constructor(storeFolder: string) {
    this.#storeFolder = storeFolder;
  }

  /** @param access may differ from that of an earlier call, when the configuration has changed */
  bucket(name: string, access: RemoteAccess): Bucket {
    const known = this.#known.get(name);
    if (known !== undefined && isDeepStrictEqual(known.access, access)) return known.bucket;
    const { send } = this.#transport;
    const find = () => findFeatures(access, send, { storeFolder: this.#storeFolder });
    const bucket = new ServiceBucket(name, access, send, find, this.#spool);
    this.#known.set(name, { access, bucket });
    return bucket;
  }

  async close(): Promise<void> {
    this.#transport.close();
    await this.#spool.close();
  }
}

/** The bucket is not there, or its service cannot be used. The message says why. */
export class RemoteUnusableError extends StoreError {
  constructor(message: string, error?: RemoteError) {
    super(10001, message, { failure: error && failureOf(error) });
  }
}

class ServiceBucket implements Bucket {
  readonly name: string;
  readonly isDeletable = false;
  readonly place: RemotePlace;
  readonly #spool: SpoolFolder;
  /**
   * For operations that need no features of the service. Writes nothing to the service, so a key that may
   * only read suffices.
   *
   * @throws RemoteUnusableError
   */
  readonly #reader: () => Promise<RemoteBucket>;
  /**
   * Finds out what the service honours, by objects that it writes and removes.
   *
   * @throws RemoteUnusableError
   */
  readonly #writer: () => Promise<RemoteBucket>;

  constructor(
    name: string,
    access: RemoteAccess,
    transport: S3Transport,
    find: () => Promise<RemoteFeatures>,
    spool: SpoolFolder,
  ) {
    const { credentials, accept, ...place } = access;
    const connection = new S3Connection(place, credentials, transport);
    const opened = (found: () => Promise<RemoteFeatures>) =>
      untilSuccess(async () => {
        // A configuration that was read for buckets of the state folder may lack the keys of remotes.
        if (credentials.accessKeyId === "") {
          throw new RemoteUnusableError(missingKeysSentence(place));
        }
        const features = await found().catch((error: unknown) => {
          throw error instanceof RemoteError
            ? new RemoteUnusableError(error.message, error)
            : error;
        });
        const confirm = (hasVersionIds: boolean) =>
          confirmFeatures(connection, features, accept, hasVersionIds);
        return new RemoteBucket({ connection, features, spool }, { confirm, isConfirmed: true });
      });
    this.name = name;
    this.place = place;
    this.#spool = spool;
    this.#reader = opened(() => requireBucket(connection).then(() => noFeatures));
    this.#writer = opened(find);
  }

  async call<M extends BucketMethod>(request: Request<M>): Promise<Result<M>> {
    const opened = needsFeatures(request.method) ? this.#writer() : this.#reader();
    const bucket = await opened.catch(async (error: unknown) => {
      if ("content" in request) await this.discard(request.content);
      throw error;
    });
    return valueOf(await bucket.execute(request));
  }

  async get(request: Omit<Request<"get">, "method">): Promise<OpenedObject | null> {
    const found = await (await this.#reader()).get(request);
    if (found?.status !== "found") return found;
    const { content } = found;
    const isInMemory = content instanceof ArrayBuffer;
    return { ...found, content: isInMemory ? new Uint8Array(content) : openContent(content) };
  }

  /** Nothing is read of the body when the service cannot be used. */
  async write(body: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<Content> {
    await this.#writer();
    try {
      return await this.#spool.write(body, options);
    } catch (error) {
      if (!(error instanceof ContentNotWrittenError)) throw error;
      const text = `${error.message}. Content for a remote bucket waits in the temporary folder, ${tmpdir()} (TMPDIR).`;
      const failure = { outcome: "not executed", reason: "space" } as const;
      throw new StoreError(10001, text, { lacksSpace: error.code === "ENOSPC", failure });
    }
  }

  copy(source: FoundObject, algorithms: readonly ChecksumAlgorithm[]): Promise<Content> {
    return copyByRead(this, source, algorithms);
  }

  async discard(content: Content): Promise<void> {
    if ("blob" in content) await this.#spool.remove(content.blob);
  }

  follow(content: Content, onBytes: (count: number) => void): void {
    this.#spool.follow(content, onBytes);
  }
}

/** Content that arrives as the caller asks for it. To close it ends the request, if content is left. */
function openContent(stream: ReadableStream<Uint8Array>): OpenContent {
  const reader = stream.getReader();
  return {
    async *chunks() {
      for (;;) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          if (error instanceof StoreError) throw error;
          const failure = error instanceof RemoteError ? failureOf(error) : undefined;
          const text = `The content broke off: ${(error as Error).message}`;
          throw new StoreError(10001, text, { failure });
        });
        if (done) return;
        yield value;
      }
    },
    close: () => void reader.cancel().catch(() => {}),
  };
}

/** Calls that come meanwhile and later have the result of the first call. A call after a failure begins again. */
function untilSuccess<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let result: Promise<Value> | undefined;
  return () => {
    if (result === undefined) {
      result = work();
      result.catch(() => (result = undefined));
    }
    return result;
  };
}

/**
 * The check at a start that the S3 service of a bucket can be used.
 *
 * @throws UserError when the service cannot be used, or lacks what a bucket needs
 */
export async function requireRemote(
  access: RemoteAccess,
  options: FindOptions = {},
): Promise<RemoteFeatures> {
  const transport = createHttpTransport();
  try {
    return await findFeatures(access, transport.send, options);
  } catch (error) {
    throw error instanceof RemoteError ? new UserError(error.message, { cause: error }) : error;
  } finally {
    transport.close();
  }
}

/**
 * Removes everything below the prefix of a bucket on an S3 service: objects, and uploads in progress.
 *
 * @throws Error with the service's reason
 */
export async function removePrefix(
  place: RemotePlace,
  credentials: RemoteCredentials,
): Promise<void> {
  const transport = createHttpTransport();
  const connection = new S3Connection(place, credentials, transport.send);
  const bucket = new RemoteBucket({ connection, features: noFeatures, spool: new SpoolFolder() });
  const call = async <M extends BucketMethod>(request: Request<M>): Promise<Result<M>> =>
    valueOf(await bucket.execute(request));
  try {
    for (;;) {
      const first = { method: "listUploads", prefix: "", limit: deleteKeysMax } as const;
      const { uploads } = await call(first);
      if (uploads.length === 0) break;
      for (const { key, uploadId } of uploads) {
        await call({ method: "abortUpload", key, uploadId });
      }
    }
    for (;;) {
      const { objectsJson } = await call({
        method: "list",
        prefix: "",
        delimiter: "",
        limit: deleteKeysMax,
        includeHttp: false,
        includeCustom: false,
      });
      const objects = decodeObjects(objectsJson, { http: false, custom: false });
      if (objects.length === 0) return;
      await call({ method: "delete", keys: objects.map(({ key }) => key) });
    }
  } finally {
    transport.close();
  }
}

const readBytes = 256 * 1024;

/**
 * Large content on its way to an S3 service: files in a private temporary folder, which is made for the
 * first file and removed at the end. Its name has the id of the process: the next process removes folders of
 * processes that were killed.
 */
export class SpoolFolder implements Spool {
  #folder: OwnFolder | undefined;
  /** Told how much of a file has been sent. */
  readonly #followers = new Map<string, (count: number) => void>();

  /** @throws StoreError 100100, ContentNotWrittenError, or the error of the body or of `verify` */
  write(body: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<Content> {
    const place = () => ({ folder: this.#made(), name: randomBytes(16).toString("hex") });
    return writeContent(body, place, options);
  }

  /** @param onBytes is called with the number of bytes that have been sent; a repetition starts again */
  follow(content: Content, onBytes: (count: number) => void): void {
    if ("blob" in content) this.#followers.set(content.blob, onBytes);
  }

  async open(blob: string, size: number): Promise<ReadableStream<Uint8Array>> {
    const onBytes = this.#followers.get(blob);
    const path = this.#path(blob);
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      let position = 0;
      for await (const chunk of createReadStream(path, { highWaterMark: readBytes })) {
        position += (chunk as Buffer).length;
        onBytes?.(position);
        yield chunk as Buffer;
      }
      if (position < size) throw new Error("A spooled file is too short.");
    };
    return Readable.toWeb(
      Readable.from(chunks(), { objectMode: false }),
    ) as ReadableStream<Uint8Array>;
  }

  async remove(blob: string): Promise<void> {
    this.#followers.delete(blob);
    if (this.#folder !== undefined) await rm(this.#path(blob), { force: true });
  }

  async close(): Promise<void> {
    const folder = this.#folder;
    this.#folder = undefined;
    folder?.remove();
  }

  #path(blob: string): string {
    return join(this.#made(), blob);
  }

  /** @throws ContentNotWrittenError */
  #made(): string {
    try {
      if (this.#folder === undefined) {
        this.#folder = new OwnFolder(tmpdir(), `ledge-spool-${process.getuid?.() ?? ""}-`);
      }
      return this.#folder.path;
    } catch (error) {
      throw new ContentNotWrittenError(0, error as NodeJS.ErrnoException);
    }
  }
}
