/**
 * A bucket, as the faces of the store use it: operations by RPC, content of any size by stream.
 */
import { BlobDamagedError, BlobDirectory } from "../blobs/blob-directory.ts";
import type { BucketObject } from "../bucket/bucket-object.ts";
import { requiredAlgorithms } from "../core/checksum.ts";
import { bindingMessage, StoreError, type StoreAction } from "../core/errors.ts";
import { validateMetadata } from "../core/http-metadata.ts";
import { validateKey } from "../core/key.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object-text.ts";
import type {
  Content,
  Method,
  ObjectRecord,
  Operation,
  Outcome,
  Request,
  Result,
} from "../core/operations.ts";
import { Batch, type SendBatch } from "./batch.ts";
import { bytesAtHand, openContent } from "./content-reader.ts";
import type {
  BucketCalls,
  GetRequest,
  Opened,
  PartRequest,
  PutRequest,
  Value,
} from "./bucket-calls.ts";
import { ContentWriter } from "./content-writer.ts";
import { decodeFrame, encodeFrame } from "./frame.ts";
import { brokenContent, suffer } from "./interference.ts";
import { observation } from "./observation.ts";

export interface BucketAccess {
  readonly buckets: DurableObjectNamespace<BucketObject>;
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly bucketName: string;
  readonly boot: string;
  /** Whether the script that asks may make remote calls, or can only fetch. */
  readonly rpc: boolean;
  /** How long each batch is held up before it leaves. */
  readonly latencyMilliseconds: number;
}

/** How often a reader looks again when an object is replaced between its row and its file. */
const readAttemptsMax = 10;

export class BucketClient implements BucketCalls {
  readonly #bucketName: string;
  readonly #batch: Batch;
  readonly #blobs: BlobDirectory;
  readonly #writer: ContentWriter;
  readonly #joiner: Fetcher;

  constructor({
    buckets,
    blobs,
    joiner,
    bucketName,
    boot,
    rpc,
    latencyMilliseconds,
  }: BucketAccess) {
    this.#bucketName = bucketName;
    let id: DurableObjectId | undefined;
    // A stub belongs to the request it was made in, so each batch has its own.
    const send: SendBatch = (operations) => {
      id ??= buckets.idFromName(bucketName);
      const bucket = buckets.get(id);
      return rpc ? bucket.execute(operations) : executeByFetch(bucket, operations);
    };
    this.#batch = new Batch(latencyMilliseconds === 0 ? send : delayed(send, latencyMilliseconds));
    this.#blobs = new BlobDirectory(blobs, bucketName);
    this.#writer = new ContentWriter(this.#blobs, boot);
    this.#joiner = joiner;
  }

  /** Executes one operation. Failures read as the binding's callers know them. */
  call<M extends Method>(action: StoreAction, request: Request<M>): Promise<Result<M>> {
    // One step, for every promise between a script and its answer is time.
    return this.#send(action, request).then((outcome) => {
      const { interference } = outcome;
      if (interference === undefined) return settle(action, outcome);
      return suffer(interference).then(() => settle(action, outcome));
    });
  }

  async get(request: GetRequest): Promise<Opened | null> {
    let damaged: { version: string; error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#send("get", { method: "get", ...request });
      const { interference } = outcome;
      if (interference !== undefined) await suffer(interference);
      const found = settle("get", outcome);
      if (found === null) return null;
      const object = decodeObject(request.key, found.object);
      if (found.status === "condition failed") return { status: found.status, object };
      const { range, content } = found;
      const bytes = interference === undefined ? bytesAtHand(content) : null;
      if (bytes !== null) return { status: "found", object, range, content: bytes };
      if (damaged?.version === object.version || attempt > readAttemptsMax) {
        throw damagedError(request.key, damaged?.error);
      }
      try {
        const opened = await openContent(this.#blobs, this.#joiner, content);
        return {
          status: "found",
          object,
          range,
          content:
            interference === undefined ? opened : brokenContent(opened, range.length, interference),
        };
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw internalError("get", error);
        // A file that is gone may only mean that the object was replaced a moment ago.
        damaged = { version: object.version, error };
      }
    }
  }

  async put({ value, ...description }: PutRequest): Promise<ObjectRecord | null> {
    const text = await this.#store("put", value, {
      algorithms: requiredAlgorithms(description.checksum),
      validate() {
        validateKey(description.key);
        validateMetadata(description.http, description.custom);
      },
      request: (content) => ({ method: "put", content, ...description }),
      // `null`: the condition did not hold
      keeps: (result) => result !== null,
    });
    return text === null ? null : decodeObject(description.key, text);
  }

  async uploadPart({ value, ...part }: PartRequest): Promise<PartReference> {
    return this.#store("uploadPart", value, {
      algorithms: ["md5"],
      validate: () => validateKey(part.key),
      request: (content) => ({ method: "uploadPart", content, ...part }),
      keeps: () => true,
    });
  }

  /** Takes in a value and commits it. Content that the bucket does not keep is removed again. */
  async #store<M extends "put" | "uploadPart">(
    action: M,
    value: Value,
    step: {
      algorithms: ReturnType<typeof requiredAlgorithms>;
      /** What can be known before the value is read */
      validate: () => void;
      request: (content: Content) => Request<M>;
      keeps: (result: Result<M>) => boolean;
    },
  ): Promise<Result<M>> {
    const layer = observation.current?.layer();
    let content: Content;
    try {
      step.validate();
      content = await this.#writer.write(value, step.algorithms);
    } catch (error) {
      await giveUp(value, error);
      throw error instanceof StoreError ? storeError(action, error) : error;
    }
    // If this rejects, nobody knows whether the bucket has committed: then the file must stay,
    // and is collected on the next start if no row refers to it.
    const outcome = await this.#send(action, step.request(content), layer);
    if ("blob" in content && !(outcome.ok && step.keeps(outcome.value))) {
      await this.#blobs.remove(content.blob);
    }
    if (outcome.interference !== undefined) await suffer(outcome.interference);
    return settle(action, outcome);
  }

  #send<M extends Method>(
    action: StoreAction,
    request: Request<M>,
    layer = observation.current?.layer(),
  ): Promise<Outcome<M>> {
    const { current } = observation;
    const sent =
      current === undefined ? this.#batch.call(request) : this.#batch.call({ ...request, layer });
    return sent.then(
      (outcome) => {
        current?.note(this.#bucketName, request as Operation, outcome);
        return outcome;
      },
      (error: unknown) => {
        throw internalError(action, error);
      },
    );
  }
}

/** Operations of one turn wait side by side, as they would on one line to a far-away store. */
function delayed(send: SendBatch, milliseconds: number): SendBatch {
  return async (operations) => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    return send(operations);
  };
}

async function executeByFetch(bucket: Fetcher, operations: Operation[]): Promise<Outcome[]> {
  const body = encodeFrame(operations);
  const response = await bucket.fetch("http://bucket/", { method: "POST", body });
  return decodeFrame(await response.arrayBuffer());
}

/** Tells the writer of a stream that nobody is going to read it. Node's proxy sees to its own. */
async function giveUp(value: Value, reason: unknown): Promise<void> {
  if ("bytes" in value || value.sealed || value.stream.locked) return;
  await value.stream.cancel(reason).catch(() => {});
}

function settle<M extends Method>(action: StoreAction, outcome: Outcome<M>): Result<M> {
  if (outcome.ok) return outcome.value;
  throw new Error(bindingMessage(action, outcome));
}

function storeError(action: StoreAction, { code, message }: StoreError): Error {
  return new Error(bindingMessage(action, { code, text: message }));
}

function internalError(action: StoreAction, cause: unknown): Error {
  const { code, message } = new StoreError(10001);
  return new Error(bindingMessage(action, { code, text: message }), { cause });
}

/** The object's row is there and its file is not, or not whole. It says so, and what to do. */
function damagedError(key: string, cause: BlobDamagedError | undefined): Error {
  const text =
    `Cannot read the content of "${key}": ${cause?.message}. ` +
    `The object is damaged; put it again or delete it.`;
  return new Error(bindingMessage("get", { code: 10001, text }), { cause });
}
