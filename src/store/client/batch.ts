/**
 * Sends the calls of one turn of a script to the bucket as one RPC.
 *
 * A script that starts 32 reads at once pays for one round trip, and 32 writes share one commit.
 * A batch is sent in the microtask that its first call schedules, so a single call does not wait. The
 * order of the calls in a batch is kept, and each call fails by itself. Calls that bring a file have
 * batches of their own: the bucket makes the file durable first, and other calls do not wait for that.
 *
 * A turn can end before its microtasks run: `abort()` of a Durable Object or of a request and
 * `process.exit()` drop all microtasks of the isolate. So each call schedules a microtask. Microtasks run
 * in their order: when that of a call runs while an earlier call still waits, the turn of the earlier call
 * was aborted. The earlier call is dropped, because no code waits for its answer, and because to send the
 * call now would execute an operation of the past.
 */
import type { DiskProblem } from "../../state/disk-problem.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { outcomeOf, shortCall, type ShortAnswer, type ShortCall } from "../core/object.ts";
import {
  blobsOf,
  bringsFile,
  bytesCarried,
  needsSpace,
  refusedOutcome,
  type DiskQuestion,
  type Operation,
  type Outcome,
  type Request,
} from "../core/operations.ts";
import { delay, internalError, refusal } from "./failure.ts";
import { decodeFrame, encodeFrame } from "./message.ts";

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
  /** Read in the call, so that an operation that cannot be read fails by itself. */
  readonly bytes: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class Batch {
  readonly #sender: Sender;
  readonly #latencyMilliseconds: number;
  /** The calls that are not sent, in their order. Those of aborted turns stay until a later call is sent. */
  #pending: PendingCall[] = [];

  /**
   * @param latencyMilliseconds the delay before each batch is sent. Batches wait at the same time, as
   *   they would on one line to a distant store.
   */
  constructor(sender: Sender, latencyMilliseconds = 0) {
    this.#sender = sender;
    this.#latencyMilliseconds = latencyMilliseconds;
  }

  /**
   * @param make converts the outcome, in the microtask in which the answer arrives
   * @param layer in a test: the layer of isolation of the call
   */
  call<M extends Method, Made>(
    request: Request<M>,
    make: (outcome: Outcome<M>) => Made | Promise<Made>,
    layer?: number,
  ): Promise<Made> {
    const operation = (layer === undefined ? request : { ...request, layer }) as Operation;
    return new Promise((settle, reject) => {
      const resolve = (outcome: Outcome<M>): void => {
        try {
          settle(make(outcome));
        } catch (error) {
          settle(throwToCaller(error));
        }
      };
      const call: PendingCall = { operation, bytes: bytesCarried(operation), reject, resolve };
      this.#pending.push(call);
      void endOfTurn.then(() => this.#flush(call));
    });
  }

  /** The microtask of a call: sends this call and the later ones, unless an earlier call of the turn has. */
  #flush(call: PendingCall): void {
    const dropped = this.#pending.indexOf(call);
    if (dropped === -1) return;
    const calls = dropped === 0 ? this.#pending : this.#pending.slice(dropped);
    this.#pending = [];
    for (const batch of batchesOf(calls)) {
      if (this.#latencyMilliseconds === 0) this.#send(batch);
      else void delay(this.#latencyMilliseconds).then(() => this.#send(batch));
    }
  }

  #send(calls: readonly PendingCall[]): void {
    const fail = (error: unknown): void => {
      for (const { operation, reject } of calls) {
        const { method } = operation;
        reject(error instanceof StoreError ? refusal(method, error) : internalError(method, error));
      }
    };
    const [first, second] = calls as [PendingCall, PendingCall?];
    try {
      if (second === undefined) {
        this.#sender.sendOne(first.operation, first.resolve, fail);
        return;
      }
      this.#sender.send(calls.map(({ operation }) => operation)).then((outcomes) => {
        for (const [index, { resolve }] of calls.entries()) resolve(outcomes[index] as Outcome);
      }, fail);
    } catch (error) {
      fail(error);
    }
  }
}

function batchesOf(calls: readonly PendingCall[]): PendingCall[][] {
  const batches: PendingCall[][] = [];
  let bytes = 0;
  for (const call of calls) {
    const batch = batches.at(-1);
    const [first] = batch ?? [];
    const isOther =
      first === undefined || bringsFile(first.operation) !== bringsFile(call.operation);
    if (isOther || bytes + call.bytes > batchBytesMax) {
      batches.push([call]);
      bytes = call.bytes;
    } else {
      batch?.push(call);
      bytes += call.bytes;
    }
  }
  return batches;
}

type Send = (operations: Operation[]) => Promise<Outcome[]>;

interface Sender {
  readonly send: Send;
  /** For an operation that travels by itself, as most do. */
  sendOne(
    operation: Operation,
    resolve: (outcome: Outcome) => void,
    reject: (error: unknown) => void,
  ): void;
}

/** What a bucket object does for its clients (`bucket/bucket-service.ts`). */
interface BucketMethods extends Rpc.DurableObjectBranded {
  execute(
    operations: Operation[],
    requestId?: string,
    clientName?: string,
  ): Outcome[] | Promise<Outcome[]>;
  executeShort(layer: number | undefined, ...call: ShortCall): ShortAnswer | Promise<ShortAnswer>;
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

/** @param hasRpc whether the script may make remote calls; a script that may not uses `fetch` */
export function senderTo(destination: Destination, hasRpc = true): Sender {
  const { buckets, bucketName, disk, requestId, clientName } = destination;
  let id: DurableObjectId | undefined;
  // A stub belongs to the request that made it, so each call makes a new stub.
  const bucket = () => buckets.get((id ??= buckets.idFromName(bucketName)));
  const sendByFetch: Send = async (operations) => {
    const body = encodeFrame(operations);
    const response = await bucket().fetch("http://bucket/", { method: "POST", body });
    return decodeFrame(await response.arrayBuffer());
  };
  const recovery: Recovery = {
    send: hasRpc
      ? (operations) => bucket().execute(operations, requestId, clientName)
      : sendByFetch,
    askDisk: (bytes) => askDisk(disk, { bucketName, bytes }),
    hasRequestId: requestId !== undefined,
  };
  const send: Send = (operations) =>
    recovery
      .send(operations)
      .catch((error: unknown) => answerFailedBatch(recovery, operations, error));
  return {
    send,
    sendOne(operation, resolve, reject) {
      const call = hasRpc && requestId === undefined ? shortCall(operation) : null;
      const resolveFirst = ([outcome]: Outcome[]): void => resolve(outcome as Outcome);
      if (call === null) send([operation]).then(resolveFirst, reject);
      else {
        const answered = bucket().executeShort(operation.layer, ...call);
        answered.then(
          (answer) => resolve(outcomeOf(answer as ShortAnswer)),
          (error: unknown) =>
            answerFailedBatch(recovery, [operation], error).then(resolveFirst, reject),
        );
      }
    },
  };
}

interface Recovery {
  readonly send: Send;
  readonly askDisk: (bytes: number) => Promise<DiskProblem | null>;
  /** Whether `send` adds an id to each batch, so that the bucket executes a repeated batch once. */
  readonly hasRequestId: boolean;
}

/** Asks the disk of the store, for the case that the bucket does not answer (`bucket/bucket-disk.ts`). */
export async function askDisk(disk: Fetcher, question: DiskQuestion): Promise<DiskProblem | null> {
  const body = JSON.stringify(question);
  const response = await disk.fetch("http://disk/", { method: "POST", body });
  return response.json();
}

/**
 * What a client does when a batch fails as a whole, without an answer.
 *
 * A commit that fails ends the bucket object, and workerd hides the reason. So the client asks the
 * bucket about its disk. If the disk is the reason, reads and deletes are sent again: on a full
 * disk the bucket now makes room for them. Puts fail with a text that names the disk. The bucket
 * removes the files of the batch that no row names.
 *
 * @throws the error of the batch when the disk is not its reason; StoreError when the disk is its
 *   reason, and the bucket cannot answer
 */
export async function answerFailedBatch(
  recovery: Recovery,
  operations: readonly Operation[],
  error: unknown,
): Promise<Outcome[]> {
  const bytes = operations.reduce((sum, operation) => sum + bytesCarried(operation), 0);
  const problem = await findDiskProblem(recovery, bytes, operations.flatMap(blobsOf));
  if (problem === null) throw error;
  const isRepeated = (operation: Operation): boolean =>
    recovery.hasRequestId || !needsSpace(operation);
  const repeated = operations.filter(isRepeated);
  const outcomes = repeated.length === 0 ? [] : await recovery.send(repeated).catch(() => null);
  if (outcomes === null) throw new StoreError(10001, problem.text, problem);
  const next = outcomes.values();
  return operations.map((operation) =>
    isRepeated(operation) ? (next.next().value as Outcome) : refusedOutcome(problem),
  );
}

/**
 * Asks the bucket about its disk. A bucket that cannot be opened gets space, and is asked again.
 *
 * @param blobs files of a failed batch: the bucket removes them unless a row names them
 * @returns what to tell callers; `null` when the disk is in order
 */
export async function findDiskProblem(
  { send, askDisk: findProblem }: Pick<Recovery, "send" | "askDisk">,
  bytes: number,
  blobs: readonly string[] = [],
): Promise<DiskProblem | null> {
  const ask = async (): Promise<DiskProblem | null> => {
    const [outcome] = (await send([{ method: "checkDisk", bytes, blobs }])) as [
      Outcome<"checkDisk">,
    ];
    if (outcome.ok) return outcome.value.problem;
    throw new Error(outcome.text);
  };
  try {
    return await ask();
  } catch {
    const problem = await findProblem(bytes);
    return ask().catch(() => problem);
  }
}
