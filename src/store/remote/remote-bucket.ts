/**
 * A bucket on an S3 service: executes the operations of a bucket (`core/operations.ts`), as the Durable
 * Object of a local bucket does. Rules decide (`core/`); conditional requests guard what they decided.
 */
import { randomHex } from "../../base/random-hex.ts";
import { StoreError, type Method } from "../core/errors.ts";
import type { Operation, Outcome, Request, Result } from "../core/operations.ts";
import { RemoteCompletion } from "./remote-completion.ts";
import { RemoteDeletes } from "./remote-deletes.ts";
import { RemoteError } from "./remote-error.ts";
import type { RemoteFeatures } from "./remote-features.ts";
import { RemoteList } from "./remote-list.ts";
import { encodeObject } from "./remote-object.ts";
import { RemotePuts, type RemotePlatform } from "./remote-puts.ts";
import { RemoteReads } from "./remote-reads.ts";
import { RemoteUploadList } from "./remote-upload-list.ts";
import { RemoteUploads } from "./remote-uploads.ts";
import type { RemoteObject } from "./retrieved-object.ts";
import type { S3Connection } from "./s3-connection.ts";
import type { Spool } from "./spool.ts";

export type { RemoteObject } from "./retrieved-object.ts";

export interface RemoteBucketOptions {
  readonly connection: S3Connection;
  readonly prefix: string;
  readonly features: RemoteFeatures;
  readonly spool: Spool;
  /** Default: the clock and the randomness of the runtime. */
  readonly platform?: RemotePlatform;
}

/** An operation that `execute` executes. */
type Executed = Exclude<Operation, { method: "get" }>;

export class RemoteBucket {
  readonly #connection: S3Connection;
  readonly #spool: Spool;
  readonly #reads: RemoteReads;
  readonly #list: RemoteList;
  readonly #puts: RemotePuts;
  readonly #deletes: RemoteDeletes;
  readonly #uploads: RemoteUploads;
  readonly #completion: RemoteCompletion;
  readonly #uploadList: RemoteUploadList;

  constructor(options: RemoteBucketOptions) {
    const { connection, prefix, features, spool } = options;
    const platform = options.platform ?? { now: () => Date.now(), randomHex };
    const reads = new RemoteReads(connection, prefix);
    this.#connection = connection;
    this.#spool = spool;
    this.#reads = reads;
    this.#list = new RemoteList(connection, prefix, reads);
    this.#puts = new RemotePuts({ connection, prefix, features, spool, reads, platform });
    this.#deletes = new RemoteDeletes({ connection, prefix, features, reads });
    this.#uploads = new RemoteUploads({ connection, prefix, spool, platform });
    this.#completion = new RemoteCompletion({ connection, prefix, features, reads, platform });
    this.#uploadList = new RemoteUploadList(connection, prefix, () => platform.now());
  }

  /**
   * Executes any operation but `get`. Never rejects: a failure is an outcome. The file of an operation's
   * content is removed, whatever the outcome.
   */
  async execute<M extends Exclude<Method, "get">>(request: Request<M>): Promise<Outcome<M>> {
    const operation = request as unknown as Executed;
    try {
      return { ok: true, value: (await this.#perform(operation)) as Result<M> };
    } catch (error) {
      const { code, message, lacksSpace } = storeErrorOf(error);
      return { ok: false, code, text: message, ...(lacksSpace && { lacksSpace }) };
    } finally {
      await this.#removeContent(operation);
    }
  }

  /** @throws StoreError */
  async get(request: Omit<Request<"get">, "method">): Promise<RemoteObject | null> {
    try {
      return await this.#reads.get(request);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  async #perform(operation: Executed): Promise<Result<Exclude<Method, "get">>> {
    switch (operation.method) {
      case "head": {
        const object = await this.#reads.head(operation.key);
        return object === null ? null : encodeObject(object);
      }
      case "put":
        return this.#puts.put(operation);
      case "delete":
        return this.#deletes.delete(operation);
      case "list":
        return this.#list.list(operation);
      case "createUpload":
        return this.#uploads.create(operation);
      case "uploadPart":
        return this.#uploads.uploadPart(operation);
      case "completeUpload":
        return this.#completion.complete(operation);
      case "abortUpload":
        return this.#uploads.abort(operation);
      case "listUploads":
        return this.#uploadList.list(operation);
      case "listParts":
        return this.#uploads.listParts(operation);
      case "stats":
        return this.#stats(operation);
      case "checkDisk":
        return { problem: null };
      case "getSettings":
        return {};
      case "putSettings":
        throw this.#refusal("has its settings there", "Change them there.");
      case "createBucket":
      case "deleteBucket":
        throw this.#refusal("is a bucket of the configuration", "Create and delete it there.");
    }
  }

  async #stats(operation: Request<"stats">): Promise<Result<"stats">> {
    const [objects, uploads] = await Promise.all([
      this.#list.count(operation),
      this.#uploadList.count(),
    ]);
    return { ...objects, uploads };
  }

  #refusal(state: string, advice: string): StoreError {
    const { remote, bucketName } = this.#connection.place;
    return new StoreError(
      200003,
      `The bucket "${bucketName}" is on the remote "${remote}" and ${state}. ${advice}`,
    );
  }

  async #removeContent(operation: Executed): Promise<void> {
    if (!("content" in operation) || !("blob" in operation.content)) return;
    const { blob } = operation.content;
    try {
      await this.#spool.remove(blob);
    } catch (error) {
      console.warn(`Cannot remove the file "${blob}" of content that was sent:`, error);
    }
  }
}

/** A failure of the service is an internal error of the store, with a text that says what happened. */
function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof RemoteError) {
    return Object.assign(new StoreError(10001, error.message), { cause: error });
  }
  console.error("Cannot execute an operation of a remote bucket:", error);
  return Object.assign(new StoreError(10001), { cause: error });
}
