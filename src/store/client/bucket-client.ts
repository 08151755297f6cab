/**
 * A bucket, as the faces of the store use it: operations by RPC, content of any size by stream.
 */
import { BlobDamagedError, BlobDirectory } from "../blobs/blob-directory.ts";
import type { BucketObject } from "../bucket/bucket-object.ts";
import { requiredAlgorithms } from "../core/checksum.ts";
import { StoreError } from "../core/errors.ts";
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
import { Batch } from "./batch.ts";
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
import { damagedError, internalError, refusal, settle } from "./failure.ts";
import { brokenContent, suffer } from "./interference.ts";
import { observation } from "./observation.ts";
import { delayed, senderByFetch, senderByRpc } from "./sender.ts";

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
    const sender = rpc ? senderByRpc(buckets, bucketName) : senderByFetch(buckets, bucketName);
    this.#batch = new Batch(
      latencyMilliseconds === 0 ? sender : delayed(sender, latencyMilliseconds),
    );
    this.#blobs = new BlobDirectory(blobs, bucketName);
    this.#writer = new ContentWriter(this.#blobs, boot);
    this.#joiner = joiner;
  }

  /** Executes one operation. Failures read as the binding's callers know them. */
  call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    return this.#send(request).then((outcome) => {
      const { interference } = outcome;
      if (interference === undefined) return settle(request.method, outcome);
      return suffer(interference).then(() => settle(request.method, outcome));
    });
  }

  async get(request: GetRequest): Promise<Opened | null> {
    let damaged: { version: string; error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#send({ method: "get", ...request });
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
    method: M,
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
      throw error instanceof StoreError ? refusal(method, error) : error;
    }
    // If this rejects, nobody knows whether the bucket has committed: then the file must stay,
    // and is collected on the next start if no row refers to it.
    const outcome = await this.#send(step.request(content), layer);
    if ("blob" in content && !(outcome.ok && step.keeps(outcome.value))) {
      await this.#blobs.remove(content.blob);
    }
    if (outcome.interference !== undefined) await suffer(outcome.interference);
    return settle(method, outcome);
  }

  // Every promise between a script and its answer is time: outside of tests, this adds none.
  #send<M extends Method>(
    request: Request<M>,
    layer = observation.current?.layer(),
  ): Promise<Outcome<M>> {
    const { current } = observation;
    if (current === undefined) return this.#batch.call(request);
    return this.#batch.call({ ...request, layer }).then((outcome) => {
      current.note(this.#bucketName, request as Operation, outcome);
      return outcome;
    });
  }
}

/** Tells the writer of a stream that nobody is going to read it. Node's proxy sees to its own. */
async function giveUp(value: Value, reason: unknown): Promise<void> {
  if ("bytes" in value || value.sealed || value.stream.locked) return;
  await value.stream.cancel(reason).catch(() => {});
}
