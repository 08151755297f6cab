/**
 * The calls of a bucket on an S3 service, in the script's isolate.
 *
 * There is no bucket object between: the isolate sends the requests itself. A value in memory is sent as
 * it is. A stream has to be read once for its hash before it is sent, and again for each attempt: a short
 * stream waits in memory, a long one in the spool.
 */
import { problemOf } from "../../state/disk-problem.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { uploadBytesMax } from "../core/limits.ts";
import type { Operation, Outcome, Request, Result } from "../core/operations.ts";
import type { RemoteBucket } from "../remote/remote-bucket.ts";
import type { Spool } from "../remote/remote-context.ts";
import type { RemoteObject } from "../remote/remote-reads.ts";
import type { BlobDirectory } from "./blob-directory.ts";
import {
  observation,
  type BucketCalls,
  type CallRecorder,
  type GetRequest,
  type OpenedObject,
} from "./bucket-calls.ts";
import { ContentWriter, WriteCalls } from "./content-writer.ts";
import { delay, hideOwnFrames, internalError, reasonOf, refusal, settle } from "./failure.ts";

/** A script holds several streams at once, and an isolate has 128 MB in production. */
const streamBytesMax = 4 * 1024 * 1024;
const limits = { bytesMax: uploadBytesMax, streamBytesMax };

/** workerd says why in its log only, and no script knows the folder. */
const spoolProblem = {
  ...problemOf(
    "The value could not be written to the spool, where a stream waits until it is sent: the disk is full, or the " +
      "folder is not writable. In a build the folder is that of --directory-path=spool=PATH, by default `spool` " +
      "beside workerd.capnp; otherwise it is `store/spool` in the state folder. Free some space, or put a smaller value.",
  ),
  failure: { outcome: "not executed", reason: "space" },
} as const;

interface RemoteCallsOptions {
  readonly bucketName: string;
  readonly bucket: RemoteBucket;
  readonly blobs: BlobDirectory;
  readonly runId: string;
  readonly latencyMilliseconds: number;
}

export class RemoteCalls extends WriteCalls implements BucketCalls {
  readonly #options: RemoteCallsOptions;

  constructor(options: RemoteCallsOptions) {
    super(new ContentWriter(options.blobs, options.runId, limits));
    this.#options = options;
  }

  async call<M extends Method, Made>(
    request: Request<M>,
    make: (result: Result<M>) => Made,
  ): Promise<Made> {
    // `get` has a method of its own.
    const executed = request as Request<Exclude<Method, "get">>;
    const outcome = (await this.send(executed)) as Outcome<M>;
    return inCaller(() => make(settle(request, outcome)));
  }

  async get<Made>(request: GetRequest, make: (opened: OpenedObject | null) => Made): Promise<Made> {
    const operation = { method: "get" as const, ...request };
    const record = this.#recorder();
    await this.#wait();
    let found: RemoteObject | null;
    try {
      found = await this.#options.bucket.get(request);
    } catch (error) {
      if (!(error instanceof StoreError)) throw hideOwnFrames(internalError("get", error));
      const { code, message: text, failure } = error;
      record(operation, { ok: false, code, text, ...(failure && { failure }) });
      throw hideOwnFrames(refusal("get", error, reasonOf(operation, error)));
    }
    record(operation, outcomeOf(found));
    return inCaller(() => make(found));
  }

  protected override async send<M extends Exclude<Method, "get">>(
    request: Request<M>,
    layer?: number,
  ): Promise<Outcome<M>> {
    const record = this.#recorder(layer);
    await this.#wait();
    const outcome = await this.#options.bucket.execute(request);
    record(request as Operation, outcome);
    return outcome;
  }

  protected override findDiskProblem(): Promise<typeof spoolProblem> {
    return Promise.resolve(spoolProblem);
  }

  async #wait(): Promise<void> {
    const { latencyMilliseconds } = this.#options;
    if (latencyMilliseconds > 0) await delay(latencyMilliseconds);
  }

  /** Tells the observer of a test about a call. The layer is that of the moment of the call. */
  #recorder(layer = observation.current?.layer()): CallRecorder {
    return observation.current?.recorder(this.#options.bucketName, layer) ?? (() => {});
  }
}

/** An error begins in the script, and not in the binding. */
function inCaller<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    throw hideOwnFrames(error);
  }
}

/** The outcome of a `get`, for the observer of a test, which reads no properties of the object. */
function outcomeOf(found: RemoteObject | null): Outcome<"get"> {
  if (found === null) return { ok: true, value: null };
  const { status } = found;
  if (status === "condition failed") return { ok: true, value: { status, object: "" } };
  return { ok: true, value: { status, object: "", range: found.range, content: [] } };
}

/** The spool of a remote bucket in workerd: files of a disk service. */
export class DiskSpool implements Spool {
  readonly #blobs: BlobDirectory;

  constructor(blobs: BlobDirectory) {
    this.#blobs = blobs;
  }

  open(blob: string, size: number): Promise<ReadableStream<Uint8Array>> {
    return this.#blobs.read({ blob, blobSize: size, offset: 0, length: size });
  }

  remove(blob: string): Promise<void> {
    return this.#blobs.remove(blob);
  }
}
