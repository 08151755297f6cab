/**
 * A bucket in the runtime of a client process. Another process owns the folder and has the
 * databases open, so every batch goes to the endpoint of that owner (`store/endpoint`). Both
 * runtimes read and write the files themselves.
 */
import { BucketService } from "../transport/bucket-service.ts";
import { decodeFrame, encodeFrame } from "../transport/frame.ts";
import { operationIn, type OperationMessage, type OutcomeMessage } from "../transport/message.ts";

interface OwnerBucketEnv {
  /** The owner's endpoint. */
  readonly owner: Fetcher;
  readonly secret: string;
}

/** An owner that restarts answers again within this time. */
const attemptsMax = 50;
const attemptMilliseconds = 100;

export class OwnerBucket extends BucketService<OwnerBucketEnv> {
  override async execute(messages: OperationMessage[]): Promise<OutcomeMessage[]> {
    const body = encodeFrame(messages);
    const response = await this.#request("execute", body, messages.every(isRepeatable));
    return decodeFrame(await response.arrayBuffer());
  }

  /** The owner does the housekeeping of the bucket. */
  async housekeep(): Promise<void> {}

  override async collectGarbage(): Promise<number> {
    return (await this.#request("collect", null, true)).json();
  }

  async #request(action: string, body: Blob | null, repeatable: boolean): Promise<Response> {
    const url = `http://owner/${action}/${this.ctx.id.name}`;
    const headers = { authorization: `Bearer ${this.env.secret}` };
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.env.owner.fetch(url, { method: "POST", body, headers });
        if (response.ok) return response;
        throw new Error(`The owner of the store answered ${response.status}`);
      } catch (error) {
        if (!repeatable || attempt === attemptsMax) {
          console.error(
            "The process that owns the store's folder does not answer. " +
              "If that process has ended, restart this one.",
          );
          throw error;
        }
        await scheduler.wait(attemptMilliseconds);
      }
    }
  }
}

/**
 * Whether executing an operation twice has the same result as executing it once: after a lost
 * answer, it is not known whether the owner has executed the operation.
 */
function isRepeatable(message: OperationMessage): boolean {
  const operation = operationIn(message);
  if (operation.method === "put") return operation.onlyIf === undefined;
  return !["createUpload", "uploadPart", "completeUpload"].includes(operation.method);
}
