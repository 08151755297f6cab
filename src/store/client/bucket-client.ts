/** The client of a bucket: operations travel by RPC, content of any size by stream. */
import type { DiskProblem } from "../../state/disk-problem.ts";
import { BlobDamagedError } from "../core/content.ts";
import type { Method } from "../core/errors.ts";
import { decodeObject } from "../core/object.ts";
import type { AnswerFault, Operation, Outcome, Request, Result } from "../core/operations.ts";
import { askDisk, Batch, findDiskProblem, senderTo, type Destination } from "./batch.ts";
import { BlobDirectory, bytesAtHand, openContent, verifyContent } from "./blob-directory.ts";
import {
  observation,
  type BucketCalls,
  type GetRequest,
  type OpenedObject,
} from "./bucket-calls.ts";
import { ContentWriter, WriteCalls } from "./content-writer.ts";
import { applyFault, connectionLost, damagedError, internalError, settle } from "./failure.ts";

export interface BucketAccess extends Destination {
  readonly blobs: Fetcher;
  readonly joiner: Fetcher;
  readonly runId: string;
  readonly rpc: boolean;
  readonly latencyMilliseconds: number;
  /** Whether content is compared with its MD5 before it is delivered. */
  readonly verifyReads?: boolean;
}

/** How often a `get` is repeated when the object is replaced between its row and its file. */
const readAttemptsMax = 100;

export class BucketClient extends WriteCalls implements BucketCalls {
  readonly #access: BucketAccess;
  readonly #sender: ReturnType<typeof senderTo>;
  readonly #batch: Batch;
  readonly #blobs: BlobDirectory;

  constructor(access: BucketAccess) {
    const blobs = new BlobDirectory(access.blobs, access.bucketName);
    super(new ContentWriter(blobs, access.runId));
    this.#access = access;
    this.#blobs = blobs;
    this.#sender = senderTo(access, access.rpc);
    this.#batch = new Batch(this.#sender, access.latencyMilliseconds);
  }

  call<M extends Method, Made>(
    request: Request<M>,
    make: (result: Result<M>) => Made,
  ): Promise<Made> {
    return this.#send(request, (outcome) => {
      if (outcome.fault === undefined) return make(settle(request, outcome));
      return applyFault(outcome.fault).then(() => make(settle(request, outcome)));
    });
  }

  get<Made>(request: GetRequest, make: (opened: OpenedObject | null) => Made): Promise<Made> {
    const operation: Request<"get"> = this.#access.verifyReads
      ? { method: "get", verify: true, ...request }
      : { method: "get", ...request };
    return this.#send(operation, (outcome) => {
      if (outcome.fault === undefined) {
        const opened = openAtOnce(request.key, settle(operation, outcome));
        if (opened !== undefined) return make(opened);
      }
      return this.#open(operation, outcome).then(make);
    });
  }

  /** Fetches content that did not come with the answer. */
  async #open(request: Request<"get">, firstOutcome: Outcome<"get">): Promise<OpenedObject | null> {
    let outcome = firstOutcome;
    let damaged: { version: string; error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const { fault } = outcome;
      if (fault !== undefined) await applyFault(fault);
      const found = settle(request, outcome);
      const opened = openAtOnce(request.key, found);
      if (opened === null || opened?.status === "condition failed") return opened;
      if (opened !== undefined && fault === undefined) return opened;
      const { object: text, range, content } = found as Extract<typeof found, { status: "found" }>;
      const object = decodeObject(request.key, text);
      if (damaged?.version === object.version || attempt > readAttemptsMax) {
        throw damagedError(request.key, damaged?.error);
      }
      try {
        if (this.#access.verifyReads) await verifyContent(this.#blobs, content);
        const whole = await openContent(this.#blobs, this.#access.joiner, content);
        const delivered = fault === undefined ? whole : breakContent(whole, range.length, fault);
        return { status: "found", object, range, content: delivered };
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw internalError("get", error);
        // The object may have been replaced since the answer; then its old file is removed.
        damaged = { version: object.version, error };
      }
      outcome = await this.#send(request, identity);
    }
  }

  protected override send<M extends Method>(
    request: Request<M>,
    layer: number | undefined,
  ): Promise<Outcome<M>> {
    return this.#send(request, identity, layer);
  }

  protected override findDiskProblem(bytes: number): Promise<DiskProblem | null> {
    const { disk, bucketName } = this.#access;
    const { send } = this.#sender;
    return findDiskProblem({ send, askDisk: () => askDisk(disk, { bucketName, bytes }) }, bytes);
  }

  #send<M extends Method, Made>(
    request: Request<M>,
    make: (outcome: Outcome<M>) => Made | Promise<Made>,
    layer = observation.current?.layer(),
  ): Promise<Made> {
    const { current } = observation;
    if (current === undefined) return this.#batch.call(request, make);
    const record = current.recorder(this.#access.bucketName, layer);
    const recordAndMake = (outcome: Outcome<M>): Made | Promise<Made> => {
      // The code of a test that has ended does not continue, also if the bucket has executed the call.
      const answer = current.isOpen(layer) ? outcome : { ...outcome, fault: lateFault };
      record(request as Operation, answer);
      return make(answer);
    };
    return this.#batch.call(request, recordAndMake, current.send(request.method, layer));
  }
}

const lateFault: AnswerFault = { late: true };

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
