/**
 * A bucket in the runtime of a client process. Another process owns the folder and has the
 * databases open, so every batch goes to the endpoint of that owner (`store/bucket/endpoint.ts`). Both
 * runtimes read and write the files themselves.
 *
 * A batch whose answer is lost is sent again with the same id, to the next owner (`state/repeat.ts`).
 */
import { requestIdHeader, clientHeader, decodeFrame, encodeFrame } from "../client/message.ts";
import { BucketService } from "./bucket-service.ts";
import { problemOf } from "../../state/disk-problem.ts";
import { repeatUntilAnswered } from "../../state/repeat.ts";
import { asksForDisk, refusedOutcome, type Operation, type Outcome } from "../core/operations.ts";

interface OwnerBucketEnv {
  readonly owner: Fetcher;
}

/** An owner that does not answer was stopped, or its script does not return. */
const answerMilliseconds = 30_000;

export class OwnerBucket extends BucketService<OwnerBucketEnv> {
  override async execute(
    operations: Operation[],
    requestId: string = crypto.randomUUID(),
  ): Promise<Outcome[]> {
    // The owner recovers from failed batches by itself. The disk is asked in this process.
    if (asksForDisk(operations))
      return [refusedOutcome(problemOf("Ask the disk of this runtime."))];
    const headers = { [requestIdHeader]: requestId, [clientHeader]: "script" };
    const body = encodeFrame(operations);
    const answer = await this.#request("execute", { body, headers }, (response) =>
      response.arrayBuffer(),
    );
    return decodeFrame(answer);
  }

  /** The owner does the housekeeping of the bucket. */
  async housekeep(): Promise<void> {}

  override collectGarbage(): Promise<number> {
    return this.#request("collect", {}, (response) => response.json());
  }

  async #request<Answer>(
    action: string,
    request: RequestInit,
    read: (response: Response) => Promise<Answer>,
  ): Promise<Answer> {
    const url = `http://owner/${action}/${this.ctx.id.name}`;
    return repeatUntilAnswered({
      since: Date.now(),
      send: async () => {
        const signal = AbortSignal.timeout(answerMilliseconds);
        const response = await this.env.owner.fetch(url, { method: "POST", ...request, signal });
        if (response.ok) return read(response);
        const reason = await response.text();
        if (response.status === refusedStatus) throw new RefusedError(reason);
        throw new Error(`The owner of the store answered ${response.status}: ${reason}`);
      },
      onFailure(error, isOver) {
        if (error instanceof RefusedError) throw error;
        if (!isOver) return;
        console.error(
          "The process that owns the store's folder does not answer. Stop that process: this " +
            "process then opens the store by itself.",
        );
        throw error;
      },
    });
  }
}

const refusedStatus = 422;

class RefusedError extends Error {
  override readonly name = "RefusedError";
}
