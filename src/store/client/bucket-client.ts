/** The client of a bucket: operations travel by RPC, content of any size by stream. */
import { BlobDirectory, bytesAtHand, openContent, verifyContent } from "./blob-directory.ts";
import { BlobDamagedError } from "../core/content.ts";
import { ContentWriter, ContentCommitter } from "./content-writer.ts";
import type { Method } from "../core/errors.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import type { ObjectRecord, Operation, Request, Result } from "../core/operations.ts";
import { faultOf, outcomeIn, type OutcomeMessage } from "./message.ts";
import { damagedError, internalError, settle, connectionLost, applyFault } from "./failure.ts";
import {
  Batch,
  findDiskProblem,
  StoreDiskClient,
  delayed,
  senderByFetch,
  senderByRpc,
  type Destination,
} from "./batch.ts";
import {
  type BucketCalls,
  type GetRequest,
  type PartRequest,
  type PutRequest,
  observation,
  type OpenedObject,
} from "./bucket-calls.ts";
import type { AnswerFault } from "../core/fault.ts";

export interface BucketAccess extends Destination {
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly runId: string;
  /** Whether the script may make remote calls; a script that may not uses `fetch`. */
  readonly rpc: boolean;
  /** The delay before each batch is sent. */
  readonly latencyMilliseconds: number;
  /** Whether content is compared with its MD5 before it is delivered. */
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
    const operation: Request<"get"> = this.#verifyReads
      ? { method: "get", verify: true, ...request }
      : { method: "get", ...request };
    return this.#send(operation, (answer) => {
      if (!("fault" in answer)) {
        const opened = openAtOnce(request.key, settle(operation, answer));
        if (opened !== undefined) return make(opened);
      }
      return this.#open(operation, answer).then(make);
    });
  }

  /** Fetches content that did not come with the answer. */
  async #open(
    request: Request<"get">,
    firstAnswer: OutcomeMessage<"get">,
  ): Promise<OpenedObject | null> {
    let answer = firstAnswer;
    let damaged: { version: string; error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const fault = faultOf(answer);
      if (fault !== undefined) await applyFault(fault);
      const found = settle(request, outcomeIn(answer));
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
      answer = await this.#send(request, identity);
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

/** A body that fails before its end, and still has the length of the whole body. */
function breakContent(
  content: ReadableStream,
  length: number,
  { lost }: AnswerFault,
): ReadableStream {
  if (lost === undefined || lost === "answer") return content;
  const wanted = lost.afterBytes < 0 ? Math.floor(length / 2) : lost.afterBytes;
  const { readable, writable } = new FixedLengthStream(length);
  void copyAndAbort(content, writable, Math.min(wanted, Math.max(0, length - 1)));
  return readable;
}

async function copyAndAbort(
  content: ReadableStream<Uint8Array>,
  writable: WritableStream<Uint8Array>,
  bytes: number,
): Promise<void> {
  const writer = writable.getWriter();
  try {
    let remaining = bytes;
    for await (const chunk of content) {
      if (remaining === 0) break;
      const part = chunk.subarray(0, remaining);
      await writer.write(part);
      remaining -= part.length;
    }
    await writer.abort(connectionLost());
  } catch {
    // The reader has cancelled the stream.
  }
}
