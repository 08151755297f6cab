/**
 * Operations of one bucket on their way to the endpoint, many in one request.
 *
 * Requests go out as long as few are under way; what is asked for meanwhile goes with the next.
 * So one operation alone does not wait, and thousands share round trips and commits.
 */
import { setTimeout as delay } from "node:timers/promises";
import { bytesCarried } from "../client/batch.ts";
import { decodeFrame, encodeFrame } from "../client/frame.ts";
import type { Method, Operation, Outcome, Request, Result } from "../core/operations.ts";
import { UserError } from "../../base/user-error.ts";
import type { StoreSession } from "./store-session.ts";

const requestsMax = 2;
const requestBytesMax = 8 * 1024 * 1024;
const requestOperationsMax = 500;

/** An internal error may be the neighbour's: a runtime that was killed, and whose child lives on. */
const internalError = 10001;
const attemptsMax = 3;
const attemptMilliseconds = 100;

interface Waiting {
  readonly operation: Operation;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export class OperationQueue {
  readonly #session: StoreSession;
  readonly #bucketName: string;
  #waiting: Waiting[] = [];
  #requests = 0;
  #scheduled = false;

  constructor(session: StoreSession, bucketName: string) {
    this.#session = session;
    this.#bucketName = bucketName;
  }

  /** @throws UserError with the bucket's reason when it refuses */
  async call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    for (let attempt = 1; ; attempt++) {
      const outcome = (await this.#add(request as Operation)) as Outcome<M>;
      if (outcome.ok) return outcome.value;
      if (outcome.code !== internalError || attempt === attemptsMax) {
        throw new UserError(`${outcome.text} (${outcome.code})`);
      }
      await delay(attemptMilliseconds * attempt);
    }
  }

  #add(operation: Operation): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#flush();
      });
    });
  }

  #flush(): void {
    while (this.#requests < requestsMax && this.#waiting.length > 0) {
      this.#requests++;
      void this.#send(this.#take()).finally(() => {
        this.#requests--;
        this.#flush();
      });
    }
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { operation } of this.#waiting.slice(0, requestOperationsMax)) {
      bytes += bytesCarried(operation);
      if (count > 0 && bytes > requestBytesMax) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #send(calls: readonly Waiting[]): Promise<void> {
    try {
      const frame = encodeFrame(calls.map(({ operation }) => operation));
      const body = new Uint8Array(await frame.arrayBuffer());
      const answer = await this.#session.run((endpoint) =>
        endpoint.askBytes(`/execute/${this.#bucketName}`, { body }),
      );
      const outcomes = decodeFrame<Outcome[]>(new Uint8Array(answer).buffer);
      for (const [index, { resolve }] of calls.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
