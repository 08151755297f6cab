/**
 * A bucket in a guest: another runtime on the same folder is the host and has the database, so
 * every batch goes to that one, through its endpoint (`store/endpoint`). Files are the same for both.
 */
import { DurableObject } from "cloudflare:workers";
import { decodeFrame, encodeFrame } from "../client/frame.ts";
import type { Method, Operation, Outcome } from "../core/operations.ts";
import { operationOf, shortAnswer, type ShortAnswer, type ShortCall } from "../core/short-form.ts";

interface OwnerBucketEnv {
  /** The host's endpoint. */
  readonly owner: Fetcher;
  readonly secret: string;
}

/** A host that restarts is back within this time. */
const attempts = 50;
const attemptMilliseconds = 100;

export class OwnerBucket extends DurableObject<OwnerBucketEnv> {
  async execute(operations: Operation[]): Promise<Outcome[]> {
    const response = await this.#ask("execute", encodeFrame(operations), isRepeatable(operations));
    return decodeFrame(await response.arrayBuffer());
  }

  async executeShort(...call: ShortCall): Promise<ShortAnswer> {
    const [outcome] = await this.execute([operationOf(call)]);
    return shortAnswer(outcome as Outcome);
  }

  override async fetch(request: Request): Promise<Response> {
    const operations = decodeFrame<Operation[]>(await request.arrayBuffer());
    return new Response(encodeFrame(await this.execute(operations)));
  }

  /** The host keeps the bucket's time. */
  async housekeep(): Promise<void> {}

  async collectGarbage(): Promise<number> {
    return (await this.#ask("collect", null, true)).json();
  }

  async #ask(action: string, body: Blob | null, repeatable: boolean): Promise<Response> {
    const url = `http://host/${action}/${this.ctx.id.name}`;
    const headers = { authorization: `Bearer ${this.env.secret}` };
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await this.env.owner.fetch(url, { method: "POST", body, headers });
        if (response.ok) return response;
        throw new Error(`The host of the store answered ${response.status}`);
      } catch (error) {
        if (!repeatable || attempt === attempts) {
          console.error(
            "The runtime that has the databases of the store does not answer. " +
              "If it has ended, restart this one.",
          );
          throw error;
        }
        await scheduler.wait(attemptMilliseconds);
      }
    }
  }
}

/** Whether doing it all twice is the same as once: nobody knows what a lost answer said. */
function isRepeatable(operations: readonly Operation[]): boolean {
  return operations.every(
    (operation) =>
      !changesUploads.has(operation.method) &&
      !(operation.method === "put" && operation.onlyIf !== undefined),
  );
}

const changesUploads: ReadonlySet<Method> = new Set([
  "createUpload",
  "uploadPart",
  "completeUpload",
]);
