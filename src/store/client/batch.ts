/**
 * Sends the calls of one turn of a script to the bucket as one RPC.
 *
 * A script that starts 32 reads at once pays for one round trip, and 32 writes share one commit.
 * A batch is sent at the end of the microtask in which its first call was made, so a single call
 * does not wait. The order of the calls in a batch is kept, and each call fails by itself.
 */
import { StoreError } from "../core/errors.ts";
import type { Method } from "../core/methods.ts";
import { bytesCarried } from "../core/operation-size.ts";
import type { Operation, Request } from "../core/operations.ts";
import {
  inLayer,
  operationIn,
  type OperationMessage,
  type OutcomeMessage,
} from "../transport/message.ts";
import { internalError, refusal } from "./failure.ts";
import type { Sender } from "./sender.ts";

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
  readonly message: OperationMessage;
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
    const operation = request as Operation;
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
      this.#pending.push({ message: inLayer(operation, layer), reject, resolve });
    });
  }

  #flush(): void {
    const calls = this.#pending;
    const [first, second] = calls;
    if (first === undefined) return;
    this.#pending = [];
    this.#bytes = 0;
    const fail = (error: unknown): void => {
      for (const { message, reject } of calls) {
        const { method } = operationIn(message);
        reject(error instanceof StoreError ? refusal(method, error) : internalError(method, error));
      }
    };
    try {
      if (second === undefined) {
        this.#sender.sendOne(first.message, first.resolve, fail);
        return;
      }
      this.#sender.send(calls.map(({ message }) => message)).then((answers) => {
        for (let index = 0; index < calls.length; index++) {
          (calls[index] as PendingCall).resolve(answers[index] as OutcomeMessage);
        }
      }, fail);
    } catch (error) {
      fail(error);
    }
  }
}
