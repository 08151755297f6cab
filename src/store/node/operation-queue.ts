/**
 * Sends the operations of one bucket to the endpoint, many in one request.
 *
 * At most `requestsMax` requests are in flight. Operations that are added meanwhile are sent with
 * the next request. So a single operation does not wait, and thousands share round trips and
 * commits.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ConnectionLostError } from "../core/fault.ts";
import type { Method } from "../core/errors.ts";
import { bytesCarried, type Operation, type Outcome, type Request } from "../core/operations.ts";
import { faultOf, outcomeIn, type OutcomeMessage } from "../client/message.ts";
import type { OwnerConnection } from "./owner-connection.ts";

const requestsMax = 2;
const requestBytesMax = 8 * 1024 * 1024;
const requestOperationsMax = 500;

interface QueuedOperation {
  readonly operation: Operation;
  readonly resolve: (answer: OutcomeMessage) => void;
  readonly reject: (error: unknown) => void;
}

export class OperationQueue {
  readonly #owner: OwnerConnection;
  readonly #bucketName: string;
  #queued: QueuedOperation[] = [];
  #requests = 0;
  #scheduled = false;

  constructor(owner: OwnerConnection, bucketName: string) {
    this.#owner = owner;
    this.#bucketName = bucketName;
  }

  /** @throws ConnectionLostError when a fault loses the answer */
  async execute<M extends Method>(request: Request<M>): Promise<Outcome<M>> {
    const answer = (await this.#add(request as Operation)) as OutcomeMessage<M>;
    const { delayMilliseconds, lost, late } = faultOf(answer) ?? {};
    if (delayMilliseconds !== undefined) await delay(delayMilliseconds);
    // A body that a fault breaks off is lost as a whole here.
    if (lost !== undefined || late) throw new ConnectionLostError();
    return outcomeIn(answer);
  }

  #add(operation: Operation): Promise<OutcomeMessage> {
    return new Promise((resolve, reject) => {
      this.#queued.push({ operation, resolve, reject });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => {
        this.#scheduled = false;
        this.#flush();
      });
    });
  }

  #flush(): void {
    while (this.#requests < requestsMax && this.#queued.length > 0) {
      this.#requests++;
      void this.#send(this.#take()).finally(() => {
        this.#requests--;
        this.#flush();
      });
    }
  }

  #take(): QueuedOperation[] {
    let bytes = 0;
    let count = 0;
    for (const { operation } of this.#queued.slice(0, requestOperationsMax)) {
      bytes += bytesCarried(operation);
      if (count > 0 && bytes > requestBytesMax) break;
      count++;
    }
    return this.#queued.splice(0, count);
  }

  async #send(calls: readonly QueuedOperation[]): Promise<void> {
    try {
      const id = randomUUID();
      const operations = calls.map(({ operation }) => operation);
      const answers = await this.#owner.run((endpoint) =>
        endpoint.execute(this.#bucketName, id, operations),
      );
      for (const [index, { resolve }] of calls.entries()) {
        resolve(answers[index] as OutcomeMessage);
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
