/**
 * A bucket, as the faces of the store use it: operations by RPC, content of any size by stream.
 */
import { BlobDamagedError, BlobDirectory } from "../content/blob-directory.ts";
import type { BucketObject } from "../bucket/bucket-object.ts";
import { requiredAlgorithms } from "../core/checksum.ts";
import { StoreError } from "../core/errors.ts";
import { validateMetadata } from "../core/http-metadata.ts";
import { validateKey } from "../core/key.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object-encoding.ts";
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
import { bytesAtHand, openContent } from "../content/content-reader.ts";
import type {
  BucketCalls,
  GetRequest,
  Opened,
  PartRequest,
  PutRequest,
  Value,
} from "./bucket-calls.ts";
import { ContentWriter } from "../content/content-writer.ts";
import { damagedError, internalError, refusal, settle } from "./failure.ts";
import { breakContent, applyFault } from "./apply-fault.ts";
import { observation } from "./call-observer.ts";
import { delayed, senderByFetch, senderByRpc } from "./sender.ts";

export interface BucketAccess {
  readonly buckets: DurableObjectNamespace<BucketObject>;
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly bucketName: string;
  readonly runId: string;
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
    runId,
    rpc,
    latencyMilliseconds,
  }: BucketAccess) {
    this.#bucketName = bucketName;
    const sender = rpc ? senderByRpc(buckets, bucketName) : senderByFetch(buckets, bucketName);
    this.#batch = new Batch(
      latencyMilliseconds === 0 ? sender : delayed(sender, latencyMilliseconds),
    );
    this.#blobs = new BlobDirectory(blobs, bucketName);
    this.#writer = new ContentWriter(this.#blobs, runId);
    this.#joiner = joiner;
  }

  /** Executes one operation. Failures read as the binding's callers know them. */
  call<M extends Method, Made>(
    request: Request<M>,
    make: (result: Result<M>) => Made,
  ): Promise<Made> {
    const { method } = request;
    return this.#send(request, (outcome) => {
      const { answerFault } = outcome;
      if (answerFault === undefined) return make(settle(method, outcome));
      return applyFault(answerFault).then(() => make(settle(method, outcome)));
    });
  }

  get<Made>(request: GetRequest, make: (opened: Opened | null) => Made): Promise<Made> {
    return this.#send({ method: "get", ...request }, (outcome) => {
      if (outcome.answerFault === undefined) {
        const opened = openedAtOnce(request.key, settle("get", outcome));
        if (opened !== undefined) return make(opened);
      }
      return this.#open(request, outcome).then(make);
    });
  }

  /** Fetches content that has not come with the answer. */
  async #open(request: GetRequest, answer: Outcome<"get">): Promise<Opened | null> {
    let outcome = answer;
    let damaged: { version: string; error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const { answerFault } = outcome;
      if (answerFault !== undefined) await applyFault(answerFault);
      const found = settle("get", outcome);
      const opened = openedAtOnce(request.key, found);
      if (opened === null || opened?.status === "condition failed") return opened;
      if (opened !== undefined && answerFault === undefined) return opened;
      const { object: text, range, content } = found as Found;
      const object = decodeObject(request.key, text);
      if (damaged?.version === object.version || attempt > readAttemptsMax) {
        throw damagedError(request.key, damaged?.error);
      }
      try {
        const whole = await openContent(this.#blobs, this.#joiner, content);
        return {
          status: "found",
          object,
          range,
          content:
            answerFault === undefined ? whole : breakContent(whole, range.length, answerFault),
        };
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw internalError("get", error);
        // A file that is gone may only mean that the object was replaced a moment ago.
        damaged = { version: object.version, error };
      }
      outcome = await this.#send({ method: "get", ...request }, asItIs);
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
    const outcome = await this.#send(step.request(content), asItIs, layer);
    if ("blob" in content && !(outcome.ok && step.keeps(outcome.value))) {
      await this.#blobs.remove(content.blob);
    }
    if (outcome.answerFault !== undefined) await applyFault(outcome.answerFault);
    return settle(method, outcome);
  }

  #send<M extends Method, Made>(
    request: Request<M>,
    make: (outcome: Outcome<M>) => Made | Promise<Made>,
    layer = observation.current?.layer(),
  ): Promise<Made> {
    const { current } = observation;
    if (current === undefined) return this.#batch.call(request, make);
    return this.#batch.call({ ...request, layer }, (outcome) => {
      current.note(this.#bucketName, request as Operation, outcome);
      return make(outcome);
    });
  }
}

type Found = Extract<Result<"get">, { status: "found" }>;

/** What an answer says, if that is all there is to it; `undefined` if content has to be fetched. */
function openedAtOnce(key: string, found: Result<"get">): Opened | null | undefined {
  if (found === null) return null;
  if (found.status === "condition failed") {
    return { status: found.status, object: decodeObject(key, found.object) };
  }
  const content = bytesAtHand(found.content);
  if (content === null) return undefined;
  const { status, range } = found;
  return { status, object: decodeObject(key, found.object), range, content };
}

function asItIs<Given>(value: Given): Given {
  return value;
}

/** Tells the writer of a stream that nobody is going to read it. Node's proxy sees to its own. */
async function giveUp(value: Value, reason: unknown): Promise<void> {
  if ("bytes" in value || value.sealed || value.stream.locked) return;
  await value.stream.cancel(reason).catch(() => {});
}
