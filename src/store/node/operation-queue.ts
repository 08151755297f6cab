/**
 * Sends the operations of one bucket to the endpoint, many in one request.
 *
 * At most `requestsMax` requests are in flight. Operations that are added meanwhile are sent with
 * the next request. So a single operation does not wait, and thousands share round trips and
 * commits.
 */
import { randomUUID } from "node:crypto";
import type { Method } from "../core/methods.ts";
import { bytesCarried } from "../core/operation-size.ts";
import type { Operation, Outcome, Request } from "../core/operations.ts";
import { decodeFrame } from "../transport/frame.ts";
import type { OwnerConnection } from "./owner-connection.ts";

const requestsMax = 2;
const requestBytesMax = 8 * 1024 * 1024;
const requestOperationsMax = 500;

interface QueuedOperation {
  readonly operation: Operation;
  readonly resolve: (outcome: Outcome) => void;
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

  execute<M extends Method>(request: Request<M>): Promise<Outcome<M>> {
    return this.#add(request as Operation);
  }

  #add(operation: Operation): Promise<Outcome> {
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
      const frame = calls.map(({ operation }) => operation);
      const answer = await this.#owner.run((endpoint) =>
        endpoint.requestBytes(`/execute/${this.#bucketName}`, { id, frame }),
      );
      const outcomes = decodeFrame<Outcome[]>(new Uint8Array(answer).buffer);
      for (const [index, { resolve }] of calls.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
}
