/**
 * Calls made in one turn of a script travel to the bucket as one RPC.
 *
 * A script that starts 32 reads at once pays for one round trip, and 32 writes share one commit.
 * A batch is sent at the end of the microtask in which its first call was made, so a call made
 * alone waits for nothing. Within a batch the order of the calls is kept, and each fails alone.
 */
import { inlineBytesMax, keyBytesMax, listPageBytesMax, metadataBytesMax } from "../core/limits.ts";
import type { Method, Operation, Outcome, Request } from "../core/operations.ts";
import { internalError } from "./failure.ts";

/** How operations get to the bucket (`sender.ts`). */
export interface Sender {
  send(operations: Operation[]): Promise<Outcome[]>;
  /** For an operation that travels alone: most do. */
  sendAlone(
    operation: Operation,
    resolve: (outcome: Outcome) => void,
    reject: (error: unknown) => void,
  ): void;
}

/** An RPC carries 32 MiB at most, request or result; half of it leaves room for all but content. */
const batchBytesMax = 16 * 1024 * 1024;

/** Cheaper than `queueMicrotask`, which is a call into the runtime. */
const endOfTurn = Promise.resolve();

interface PendingCall {
  readonly operation: Operation;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class Batch {
  readonly #sender: Sender;
  #pending: PendingCall[] = [];
  #bytes = 0;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** @param make makes something of the outcome, in the step in which it arrives */
  call<M extends Method, Made>(
    request: Request<M>,
    make: (outcome: Outcome<M>) => Made | Promise<Made>,
  ): Promise<Made> {
    const operation = request as Operation;
    return new Promise((settle, reject) => {
      const resolve = (outcome: Outcome): void => {
        try {
          settle(make(outcome));
        } catch (error) {
          reject(error);
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
      for (const { operation, reject } of calls) reject(internalError(operation.method, error));
    };
    try {
      if (second === undefined) {
        this.#sender.sendAlone(first.operation, first.resolve, fail);
        return;
      }
      this.#sender.send(calls.map(({ operation }) => operation)).then((outcomes) => {
        for (let index = 0; index < calls.length; index++) {
          (calls[index] as PendingCall).resolve(outcomes[index] as Outcome);
        }
      }, fail);
    } catch (error) {
      fail(error);
    }
  }
}

/** A key and all the metadata an object may have, with room for their JSON. */
const recordBytes = 2 * (keyBytesMax + metadataBytesMax);
/** A key, or a part. */
const entryBytes = 2 * keyBytesMax;

/** How much an operation may carry, there or back. */
export function bytesCarried(operation: Operation): number {
  switch (operation.method) {
    case "put":
    case "uploadPart":
      return recordBytes + ("bytes" in operation.content ? operation.content.bytes.length : 0);
    case "get":
      return recordBytes + inlineBytesMax;
    case "list":
      return Math.max(operation.limit * entryBytes, 2 * listPageBytesMax);
    case "delete":
      return operation.keys.length * entryBytes;
    case "completeUpload":
      return operation.parts.length * entryBytes;
    case "listUploads":
    case "listParts":
      return operation.limit * entryBytes;
    case "head":
    case "createUpload":
    case "abortUpload":
    case "stats":
      return recordBytes;
  }
}
