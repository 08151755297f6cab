/**
 * A bucket on an S3 service: executes the operations of a bucket (`core/operations.ts`), as the Durable
 * Object of a local bucket does.
 */
import { failureOf, StoreError, type Method, type ServiceFailure } from "../core/errors.ts";
import type { Operation, Outcome, Request, Result } from "../core/operations.ts";
import { createContext, type RemoteContext } from "./remote-context.ts";
import { RemoteMetrics } from "./remote-metrics.ts";
import { encodeObject } from "./remote-object.ts";
import { countObjects, listObjects, countUploads, listUploads } from "./remote-list.ts";
import { getObject, headObject, type GetRequest, type RemoteObject } from "./remote-reads.ts";
import {
  abortUpload,
  completeUpload,
  createUpload,
  listParts,
  uploadPart,
} from "./remote-uploads.ts";
import { deleteObjects, putObject, uncertain } from "./remote-writes.ts";
import type { RemoteFeatures } from "./remote-options.ts";
import { RemoteError } from "./s3-transport.ts";

/** An operation that `execute` executes. */
type Executed = Exclude<Operation, { method: "get" }>;

/** A probe takes seconds. */
const confirmationMillisecondsMax = 60_000;

export class RemoteBucket {
  readonly #metrics: RemoteMetrics;
  #context: RemoteContext;
  readonly #confirm: ((hasVersionIds: boolean) => Promise<RemoteFeatures>) | undefined;
  #confirmation: Promise<void> | undefined;
  #isConfirmed: boolean;
  /** Whether the service was asked after an answer that names a version. */
  #isConfirmedWithVersionIds = false;

  /**
   * @param more `confirm` is asked what the service honours, until it answers: before the first write unless
   *   `isConfirmed`, and when an answer names a version, because the bucket may have versions by now
   */
  constructor(
    options: Parameters<typeof createContext>[0],
    more: {
      readonly metrics?: RemoteMetrics;
      readonly confirm?: (hasVersionIds: boolean) => Promise<RemoteFeatures>;
      readonly isConfirmed?: boolean;
    } = {},
  ) {
    this.#context = createContext(options);
    this.#metrics = more.metrics ?? new RemoteMetrics();
    this.#confirm = more.confirm;
    this.#isConfirmed = more.isConfirmed ?? false;
  }

  get #isOpen(): boolean {
    if (this.#confirm === undefined) return false;
    const { hasVersionIds } = this.#context.connection;
    return !this.#isConfirmed || (hasVersionIds && !this.#isConfirmedWithVersionIds);
  }

  /** Operations that come meanwhile have the same confirmation. */
  async #confirmed(): Promise<RemoteContext> {
    for (;;) {
      const confirm = this.#confirm;
      if (confirm === undefined || !this.#isOpen) return this.#context;
      const { hasVersionIds } = this.#context.connection;
      const confirmation = (this.#confirmation ??= confirm(hasVersionIds)
        .then((features) => {
          this.#context = { ...this.#context, features };
          this.#isConfirmed = true;
          this.#isConfirmedWithVersionIds = hasVersionIds;
        })
        .finally(() => (this.#confirmation = undefined)));
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, confirmationMillisecondsMax);
      await Promise.race([confirmation, late.promise]).finally(() => clearTimeout(timer));
      // workerd ends the work of a request that its client has left: then the next operation asks.
      if (this.#confirmation === confirmation) this.#confirmation = undefined;
    }
  }

  /**
   * Executes any operation but `get`. Never rejects: a failure is an outcome. The file of an operation's
   * content is removed, whatever the outcome.
   */
  async execute<M extends Exclude<Method, "get">>(request: Request<M>): Promise<Outcome<M>> {
    const operation = request as unknown as Executed;
    try {
      const work = async (): Promise<Result<Exclude<Method, "get">>> => {
        const { method } = operation;
        const isWrite = needsFeatures(method);
        const context = isWrite ? await this.#confirmed() : this.#context;
        const result = await perform(method === "stats" ? context : ofCall(context), operation);
        if (isWrite) {
          // A bucket with versions may have executed the write beside another one that contradicts it.
          await this.#confirmed().catch((error: unknown) => {
            if (!(error instanceof RemoteError)) throw error;
            throw uncertain(method === "delete" ? "deleted" : "stored", error);
          });
        }
        return result;
      };
      const value = await this.#metrics.measure(operation.method, keyOf(operation), work);
      return { ok: true, value: value as Result<M> };
    } catch (error) {
      const { code, message, failure, reason } = storeErrorOf(error);
      return { ok: false, code, text: message, failure, reason };
    } finally {
      await removeContent(this.#context, operation);
    }
  }

  /** @throws StoreError */
  async get(request: GetRequest): Promise<RemoteObject | null> {
    try {
      const work = () => getObject(ofCall(this.#context), request);
      return await this.#metrics.measure("get", request.key, work);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }
}

/** Whether an operation depends on what the service honours, or leads to an operation that does. */
export function needsFeatures(method: Method): boolean {
  return ["put", "delete", "createUpload", "uploadPart", "completeUpload"].includes(method);
}

/** The requests of a call share its time. The number of pages of a count has no bound. */
function ofCall(remote: RemoteContext): RemoteContext {
  return { ...remote, connection: remote.connection.forCall() };
}

function keyOf(operation: Executed): string | undefined {
  return "key" in operation ? operation.key : undefined;
}

async function perform(
  remote: RemoteContext,
  operation: Executed,
): Promise<Result<Exclude<Method, "get">>> {
  switch (operation.method) {
    case "head": {
      const object = await headObject(remote, operation.key);
      return object === null ? null : encodeObject(object);
    }
    case "put":
      return putObject(remote, operation);
    case "delete":
      return deleteObjects(remote, operation);
    case "list":
      return listObjects(remote, operation);
    case "createUpload":
      return createUpload(remote, operation);
    case "uploadPart":
      return uploadPart(remote, operation);
    case "completeUpload":
      return completeUpload(remote, operation);
    case "abortUpload":
      return abortUpload(remote, operation);
    case "listUploads":
      return listUploads(remote, operation);
    case "listParts":
      return listParts(remote, operation);
    case "stats": {
      const [objects, uploads] = await Promise.all([
        countObjects(remote, operation),
        countUploads(remote),
      ]);
      return { ...objects, uploads };
    }
    case "checkDisk":
      return { problem: null };
    case "getSettings":
      return {};
    case "putSettings":
      throw refusal(remote, "has its settings there", "Change them there.");
    case "createBucket":
    case "deleteBucket":
      throw refusal(remote, "is a bucket of the configuration", "Create and delete it there.");
  }
}

function refusal({ connection }: RemoteContext, state: string, advice: string): StoreError {
  const { remote, bucketName } = connection.place;
  return new StoreError(
    200003,
    `The bucket "${bucketName}" is on the remote "${remote}" and ${state}. ${advice}`,
  );
}

async function removeContent({ spool }: RemoteContext, operation: Executed): Promise<void> {
  if (!("content" in operation) || !("blob" in operation.content)) return;
  const { blob } = operation.content;
  try {
    await spool.remove(blob);
  } catch (error) {
    console.warn(`Cannot remove the file "${blob}" of content that was sent:`, error);
  }
}

interface RefusedError extends StoreError {
  readonly failure: ServiceFailure;
}

/** A failure of the service is an internal error of the store, with a text that says what happened. */
function storeErrorOf(error: unknown): RefusedError {
  if (error instanceof StoreError) {
    // A rule of ours that does not hold.
    const { failure = { outcome: "not executed", reason: "refused" } } = error;
    return Object.assign(error, { failure });
  }
  if (error instanceof RemoteError) {
    return Object.assign(new StoreError(10001, error.message), {
      failure: failureOf(error),
      cause: error,
    });
  }
  console.error("Cannot execute an operation of a remote bucket:", error);
  const failure: ServiceFailure = { outcome: "unknown", reason: "unavailable" };
  return Object.assign(new StoreError(10001), { failure, cause: error });
}
