/**
 * A bucket on an S3 service: executes the operations of a bucket (`core/operations.ts`), as the Durable
 * Object of a local bucket does.
 */
import { StoreError, type Method } from "../core/errors.ts";
import type { Operation, Outcome, Request, Result } from "../core/operations.ts";
import { createContext, type RemoteContext } from "./remote-context.ts";
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
import { deleteObjects, putObject } from "./remote-writes.ts";
import { RemoteError } from "./s3-transport.ts";

/** An operation that `execute` executes. */
type Executed = Exclude<Operation, { method: "get" }>;

export class RemoteBucket {
  readonly #context: RemoteContext;

  constructor(options: Parameters<typeof createContext>[0]) {
    this.#context = createContext(options);
  }

  /**
   * Executes any operation but `get`. Never rejects: a failure is an outcome. The file of an operation's
   * content is removed, whatever the outcome.
   */
  async execute<M extends Exclude<Method, "get">>(request: Request<M>): Promise<Outcome<M>> {
    const operation = request as unknown as Executed;
    try {
      return { ok: true, value: (await perform(this.#context, operation)) as Result<M> };
    } catch (error) {
      const { code, message, lacksSpace } = storeErrorOf(error);
      return { ok: false, code, text: message, ...(lacksSpace && { lacksSpace }) };
    } finally {
      await removeContent(this.#context, operation);
    }
  }

  /** @throws StoreError */
  async get(request: GetRequest): Promise<RemoteObject | null> {
    try {
      return await getObject(this.#context, request);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }
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

/** A failure of the service is an internal error of the store, with a text that says what happened. */
function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof RemoteError) {
    return Object.assign(new StoreError(10001, error.message), { cause: error });
  }
  console.error("Cannot execute an operation of a remote bucket:", error);
  return Object.assign(new StoreError(10001), { cause: error });
}
