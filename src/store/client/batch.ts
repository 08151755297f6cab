/**
 * Sends the calls of one turn of a script to the bucket as one RPC.
 *
 * A script that starts 32 reads at once pays for one round trip, and 32 writes share one commit.
 * A batch is sent at the end of the microtask in which its first call was made, so a single call
 * does not wait. The order of the calls in a batch is kept, and each call fails by itself.
 */
import { StoreError, type Method } from "../core/errors.ts";
import {
  bytesCarried,
  type Operation,
  type Request,
  type DiskQuestion,
  refusedOutcome,
} from "../core/operations.ts";
import {
  type OutcomeMessage,
  decodeFrame,
  encodeFrame,
  type ShortMessage,
  outcomeIn,
} from "./message.ts";
import { internalError, refusal } from "./failure.ts";
import { outcomeOf, shortCall, type ShortCall } from "../core/object.ts";
import type { DiskProblem } from "../../state/disk-problem.ts";

/** An RPC carries 32 MiB, in the request or in the result; half leaves room for all but content. */
const batchBytesMax = 16 * 1024 * 1024;

/** Cheaper than `queueMicrotask`, which is a call into the runtime. */
const endOfTurn = Promise.resolve();

/**
 * Rejects with an error whose stack names the caller. An answer arrives outside of the promises of the
 * caller, so an error that is made there has no frames of the script. V8 finds the frames of async
 * functions from a reaction that leads to their promise, which needs two turns to be linked.
 */
function throwToCaller(reason: unknown): Promise<never> {
  return endOfTurn
    .then(() => {})
    .then(function rethrow() {
      if (reason instanceof Error) {
        const { stack } = reason;
        (Error as V8Error).captureStackTrace?.(reason, rethrow);
        // The caller does not await the promise in an async function.
        if (stack !== undefined && !reason.stack?.includes("\n    at ")) reason.stack = stack;
      }
      throw reason;
    });
}

/** The types of plain JavaScript do not have this method. */
type V8Error = { captureStackTrace?(error: Error, above: () => void): void };

interface PendingCall {
  readonly operation: Operation;
  readonly resolve: (answer: OutcomeMessage) => void;
  readonly reject: (error: unknown) => void;
}

export class Batch {
  readonly #sender: Sender;
  #pending: PendingCall[] = [];
  #bytes = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * @param make converts the answer, in the microtask in which the answer arrives
   * @param layer in a test: the layer of isolation of the call
   */
  call<M extends Method, Made>(
    request: Request<M>,
    make: (answer: OutcomeMessage<M>) => Made | Promise<Made>,
    layer?: number,
  ): Promise<Made> {
    const operation = (layer === undefined ? request : { ...request, layer }) as Operation;
    return new Promise((settle, reject) => {
      const resolve = (answer: OutcomeMessage): void => {
        try {
          settle(make(answer as OutcomeMessage<M>));
        } catch (error) {
          settle(throwToCaller(error));
        }
      };
      const bytes = bytesCarried(operation);
      if (this.#bytes + bytes > batchBytesMax) this.#flush();
      if (this.#pending.length === 0) void endOfTurn.then(() => this.#flush());
      this.#bytes += bytes;
      this.#pending.push({ operation, reject, resolve });
    });
  }

  #flush(): void {
    const calls = this.#pending;
    const [first, second] = calls;
    if (first === undefined) return;
    this.#pending = [];
    this.#bytes = 0;
    const fail = (error: unknown): void => {
      for (const { operation, reject } of calls) {
        const { method } = operation;
        reject(error instanceof StoreError ? refusal(method, error) : internalError(method, error));
      }
    };
    try {
      if (second === undefined) {
        this.#sender.sendOne(first.operation, first.resolve, fail);
        return;
      }
      this.#sender.send(calls.map(({ operation }) => operation)).then((answers) => {
        for (let index = 0; index < calls.length; index++) {
          (calls[index] as PendingCall).resolve(answers[index] as OutcomeMessage);
        }
      }, fail);
    } catch (error) {
      fail(error);
    }
  }
}

/** How operations travel to a bucket: by RPC, by `fetch`, and with a latency. */

interface Sender {
  send(operations: Operation[]): Promise<OutcomeMessage[]>;
  /** For an operation that travels by itself, as most do. */
  sendOne(
    operation: Operation,
    resolve: (answer: OutcomeMessage) => void,
    reject: (error: unknown) => void,
  ): void;
}

/** What a bucket object does for its clients, over RPC. */
interface BucketMethods extends Rpc.DurableObjectBranded {
  /**
   * Executes operations in order. Their writes are durable when the answer arrives.
   *
   * @param requestId of a request that may be a repetition: its writes happen once
   * @param clientName of the program that has sent the request (`message.ts`)
   */
  execute(
    operations: Operation[],
    requestId?: string,
    clientName?: string,
  ): OutcomeMessage[] | Promise<OutcomeMessage[]>;

  /** `execute`, for one operation in its short form. Only a call in a test has a `layer`. */
  executeShort(layer: number | undefined, ...call: ShortCall): ShortMessage | Promise<ShortMessage>;

  /** `execute`, for scripts whose compatibility date is older than RPC: a frame in each direction. */
  fetch(request: globalThis.Request): Promise<Response>;
}

export type BucketNamespace = DurableObjectNamespace<BucketMethods>;

/** Where operations go, and whom to ask when they are not answered. */
export interface Destination {
  readonly buckets: BucketNamespace;
  readonly bucketName: string;
  /** The disk of the store (`bucket/bucket-disk.ts`). */
  readonly disk: Fetcher;
  /** Of the request of another process that the operations belong to. */
  readonly requestId?: string | undefined;
  /** The program that has sent this request (`client/message.ts`). */
  readonly clientName?: string | undefined;
}

export function senderByRpc(destination: Destination): Sender {
  const { buckets, bucketName, disk, requestId, clientName } = destination;
  const bucket = stubs(buckets, bucketName);
  const recovery: Recovery = {
    send: (operations) => bucket().execute(operations, requestId, clientName),
    disk: new StoreDiskClient(disk, bucketName),
    hasRequestId: requestId !== undefined,
  };
  const send = withRecovery(recovery);
  return {
    send,
    sendOne(operation, resolve, reject) {
      const call = requestId === undefined ? shortCall(operation) : null;
      if (call === null) firstOf(send([operation])).then(resolve, reject);
      else {
        const answered = bucket().executeShort(operation.layer, ...call);
        answered.then(
          (answer) => resolve(outcomeOf(answer as ShortMessage)),
          (error: unknown) =>
            firstOf(answerFailedBatch(recovery, [operation], error)).then(resolve, reject),
        );
      }
    },
  };
}

/** For scripts whose compatibility date is older than RPC. */
export function senderByFetch({ buckets, bucketName, disk }: Destination): Sender {
  const bucket = stubs(buckets, bucketName);
  const send = withRecovery({
    async send(operations) {
      const body = encodeFrame(operations);
      const response = await bucket().fetch("http://bucket/", { method: "POST", body });
      return decodeFrame(await response.arrayBuffer());
    },
    disk: new StoreDiskClient(disk, bucketName),
    hasRequestId: false,
  });
  return {
    send,
    sendOne: (operation, resolve, reject) => void firstOf(send([operation])).then(resolve, reject),
  };
}

function withRecovery(recovery: Recovery): Sender["send"] {
  return (operations) =>
    recovery
      .send(operations)
      .catch((error: unknown) => answerFailedBatch(recovery, operations, error));
}

/** Adds a latency. Messages wait at the same time, as they would on one line to a distant store. */
export function delayed(sender: Sender, milliseconds: number): Sender {
  const wait = () => new Promise((resolve) => setTimeout(resolve, milliseconds));
  return {
    send: (operations) => wait().then(() => sender.send(operations)),
    sendOne: (operation, resolve, reject) =>
      void wait()
        .then(() => sender.sendOne(operation, resolve, reject))
        .catch(reject),
  };
}

/** A stub belongs to the request that made it, so each call makes a new stub. */
function stubs(
  buckets: BucketNamespace,
  bucketName: string,
): () => DurableObjectStub<BucketMethods> {
  let id: DurableObjectId | undefined;
  return () => buckets.get((id ??= buckets.idFromName(bucketName)));
}

async function firstOf(sent: Promise<OutcomeMessage[]>): Promise<OutcomeMessage> {
  const [answer] = await sent;
  return answer as OutcomeMessage;
}

/**
 * What a client does when a batch fails as a whole, without an answer.
 *
 * A commit that fails ends the bucket object, and workerd hides the reason. So the client asks the
 * bucket about its disk. If the disk is the reason, reads and deletes are sent again: on a full
 * disk the bucket now makes room for them. Puts fail with a text that names the disk. The bucket
 * removes the files of the batch that no row names.
 */

type Send = (operations: Operation[]) => Promise<OutcomeMessage[]>;

/** How a client recovers from a failed batch. */
interface Recovery {
  readonly send: Send;
  readonly disk: StoreDiskClient;
  /** Whether `send` adds an id to each batch, so that the bucket executes a repeated batch once. */
  readonly hasRequestId: boolean;
}

/** The disk of the store, for the case that the bucket does not answer (`bucket/bucket-disk.ts`). */
export class StoreDiskClient {
  readonly #disk: Fetcher;
  readonly #bucketName: string;

  constructor(disk: Fetcher, bucketName: string) {
    this.#disk = disk;
    this.#bucketName = bucketName;
  }

  /** What to tell callers; `null` when the disk is in order. */
  async findProblem(bytes: number): Promise<DiskProblem | null> {
    const question: DiskQuestion = { bucketName: this.#bucketName, bytes };
    const body = JSON.stringify(question);
    const response = await this.#disk.fetch("http://disk/", { method: "POST", body });
    return response.json();
  }
}

/**
 * @throws the error of the batch when the disk is not its reason; StoreError when the disk is its
 *   reason, and the bucket cannot answer
 */
export async function answerFailedBatch(
  { send, disk, hasRequestId }: Recovery,
  operations: readonly Operation[],
  error: unknown,
): Promise<OutcomeMessage[]> {
  const bytes = operations.reduce((sum, operation) => sum + bytesCarried(operation), 0);
  const problem = await findDiskProblem(send, disk, bytes, operations.flatMap(blobOf));
  if (problem === null) throw error;
  const isRepeated = (operation: Operation): boolean => hasRequestId || mayRepeat(operation);
  const repeated = operations.filter(isRepeated);
  const answers = repeated.length === 0 ? [] : await send(repeated).catch(() => null);
  if (answers === null) throw new StoreError(10001, problem.text, problem);
  const next = answers.values();
  return operations.map((operation) =>
    isRepeated(operation) ? (next.next().value as OutcomeMessage) : refusedOutcome(problem),
  );
}

/**
 * Asks the bucket about its disk. A bucket that cannot be opened gets space, and is asked again.
 *
 * @param blobs files of a failed batch: the bucket removes them unless a row names them
 * @returns what to tell callers; `null` when the disk is in order
 */
export async function findDiskProblem(
  send: Send,
  disk: StoreDiskClient,
  bytes: number,
  blobs: readonly string[] = [],
): Promise<DiskProblem | null> {
  const ask = async (): Promise<DiskProblem | null> => {
    const [answer] = await send([{ method: "checkDisk", bytes, blobs }]);
    const outcome = outcomeIn(answer as OutcomeMessage<"checkDisk">);
    if (outcome.ok) return outcome.value.problem;
    throw new Error(outcome.text);
  };
  try {
    return await ask();
  } catch {
    const problem = await disk.findProblem(bytes);
    return ask().catch(() => problem);
  }
}

function blobOf(operation: Operation): string[] {
  const isWrite = operation.method === "put" || operation.method === "uploadPart";
  return isWrite && "blob" in operation.content ? [operation.content.blob] : [];
}

/** Whether an operation may be executed again when the disk has refused its first execution. */
function mayRepeat({ method }: Operation): boolean {
  return !["put", "createUpload", "uploadPart", "completeUpload"].includes(method);
}
