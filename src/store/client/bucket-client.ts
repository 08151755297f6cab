/** The client of a bucket: operations travel by RPC, content of any size by stream. */
import { BlobDirectory } from "../content/blob-directory.ts";
import { BlobDamagedError } from "../core/blob-damage.ts";
import { ContentWriter } from "../content/content-writer.ts";
import { bytesAtHand, openContent } from "../content/content-reader.ts";
import { verifyContent } from "../content/content-verifier.ts";
import type { Method } from "../core/methods.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object-encoding.ts";
import type { ObjectRecord, Operation, Request, Result } from "../core/operations.ts";
import { faultOf, outcomeIn, type OutcomeMessage } from "../transport/message.ts";
import { applyFault, breakContent } from "./apply-fault.ts";
import { Batch } from "./batch.ts";
import type { BucketCalls, GetRequest, PartRequest, PutRequest } from "./bucket-calls.ts";
import { observation } from "./call-observer.ts";
import { ContentCommitter } from "./content-commit.ts";
import { findDiskProblem, StoreDiskClient } from "./failed-batch.ts";
import { damagedError, internalError, settle } from "./failure.ts";
import type { OpenedObject } from "./opened-object.ts";
import { delayed, senderByFetch, senderByRpc, type Destination } from "./sender.ts";

export interface BucketAccess extends Destination {
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly runId: string;
  /** Whether the script may make remote calls; a script that may not uses `fetch`. */
  readonly rpc: boolean;
  /** The delay before each batch is sent. */
  readonly latencyMilliseconds: number;
  /** Whether files are verified by their hash before they are delivered. */
  readonly verifyReads?: boolean;
}

/** How often a `get` is repeated when the object is replaced between its row and its file. */
const readAttemptsMax = 100;

export class BucketClient implements BucketCalls {
  readonly #bucketName: string;
  readonly #batch: Batch;
  readonly #blobs: BlobDirectory;
  readonly #contents: ContentCommitter;
  readonly #joiner: Fetcher;
  readonly #verifyReads: boolean;

  constructor(access: BucketAccess) {
    const { bucketName, disk, latencyMilliseconds: latency } = access;
    this.#bucketName = bucketName;
    const sender = (access.rpc ? senderByRpc : senderByFetch)(access);
    this.#batch = new Batch(latency === 0 ? sender : delayed(sender, latency));
    const storeDisk = new StoreDiskClient(disk, bucketName);
    this.#blobs = new BlobDirectory(access.blobs, bucketName);
    this.#contents = new ContentCommitter(
      new ContentWriter(this.#blobs, access.runId),
      (request, layer) => this.#send(request, identity, layer),
      (bytes) => findDiskProblem((messages) => sender.send(messages), storeDisk, bytes),
    );
    this.#joiner = access.joiner;
    this.#verifyReads = access.verifyReads ?? false;
  }

  call<M extends Method, Made>(
    request: Request<M>,
    make: (result: Result<M>) => Made,
  ): Promise<Made> {
    return this.#send(request, (answer) => {
      if (!("fault" in answer)) return make(settle(request, answer));
      return applyFault(answer.fault).then(() => make(settle(request, answer.outcome)));
    });
  }

  get<Made>(request: GetRequest, make: (opened: OpenedObject | null) => Made): Promise<Made> {
    const operation = { method: "get" as const, ...request };
    return this.#send(operation, (answer) => {
      if (!("fault" in answer)) {
        const opened = openAtOnce(request.key, settle(operation, answer));
        if (opened !== undefined) return make(opened);
      }
      return this.#open(request, answer).then(make);
    });
  }

  /** Fetches content that did not come with the answer. */
  async #open(
    request: GetRequest,
    firstAnswer: OutcomeMessage<"get">,
  ): Promise<OpenedObject | null> {
    let answer = firstAnswer;
    let damaged: { version: string; error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const fault = faultOf(answer);
      if (fault !== undefined) await applyFault(fault);
      const found = settle({ method: "get", ...request }, outcomeIn(answer));
      const opened = openAtOnce(request.key, found);
      if (opened === null || opened?.status === "condition failed") return opened;
      if (opened !== undefined && fault === undefined) return opened;
      const { object: text, range, content } = found as Extract<typeof found, { status: "found" }>;
      const object = decodeObject(request.key, text);
      if (damaged?.version === object.version || attempt > readAttemptsMax) {
        throw damagedError(request.key, damaged?.error);
      }
      try {
        if (this.#verifyReads) await verifyContent(this.#blobs, content);
        const whole = await openContent(this.#blobs, this.#joiner, content);
        const delivered = fault === undefined ? whole : breakContent(whole, range.length, fault);
        return { status: "found", object, range, content: delivered };
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw internalError("get", error);
        // The object may have been replaced since the answer; then its old file is removed.
        damaged = { version: object.version, error };
      }
      answer = await this.#send({ method: "get", ...request }, identity);
    }
  }

  async put({ value, ...description }: PutRequest): Promise<ObjectRecord | null> {
    const text = await this.#contents.commit<"put">(value, { method: "put", ...description });
    return text === null ? null : decodeObject(description.key, text);
  }

  uploadPart({ value, ...part }: PartRequest): Promise<PartReference> {
    return this.#contents.commit<"uploadPart">(value, { method: "uploadPart", ...part });
  }

  #send<M extends Method, Made>(
    request: Request<M>,
    make: (answer: OutcomeMessage<M>) => Made | Promise<Made>,
    layer = observation.current?.layer(),
  ): Promise<Made> {
    const { current } = observation;
    if (current === undefined) return this.#batch.call(request, make);
    const record = (answer: OutcomeMessage<M>): Made | Promise<Made> => {
      current.record(this.#bucketName, request as Operation, answer, layer);
      return make(answer);
    };
    return this.#batch.call(request, record, layer);
  }
}

/** The opened object, if all of it came with the answer; `undefined` if content has to be fetched. */
function openAtOnce(key: string, found: Result<"get">): OpenedObject | null | undefined {
  if (found === null) return null;
  if (found.status === "condition failed") {
    return { status: found.status, object: decodeObject(key, found.object) };
  }
  const content = bytesAtHand(found.content);
  if (content === null) return undefined;
  const { status, range } = found;
  return { status, object: decodeObject(key, found.object), range, content };
}

function identity<Given>(value: Given): Given {
  return value;
}
