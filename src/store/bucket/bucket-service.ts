/**
 * The RPC interface of a bucket's Durable Object. `BucketObject` extends it in the runtime that owns
 * the databases, and `OwnerBucket` in the runtime of a client process.
 */
import { DurableObject } from "cloudflare:workers";
import { operationOf, type ShortCall } from "../core/object.ts";
import {
  decodeFrame,
  encodeFrame,
  inLayer,
  shortMessage,
  type OperationMessage,
  type OutcomeMessage,
  type ShortMessage,
} from "../client/message.ts";

export abstract class BucketService<Env = unknown> extends DurableObject<Env> {
  /**
   * Executes operations in order. Their writes are durable when the answer arrives.
   *
   * @param requestId of a request that may be a repetition: its writes happen once
   * @param clientName of the program that has sent the request (`client-name.ts`)
   */
  abstract execute(
    messages: OperationMessage[],
    requestId?: string,
    clientName?: string,
  ): OutcomeMessage[] | Promise<OutcomeMessage[]>;

  /** Removes the files that crashes left. Returns the number of files. */
  abstract collectGarbage(): Promise<number>;

  /** `execute`, for one operation in its short form. Only a call in a test has a `layer`. */
  executeShort(
    layer: number | undefined,
    ...call: ShortCall
  ): ShortMessage | Promise<ShortMessage> {
    const answers = this.execute([inLayer(operationOf(call), layer)]);
    return answers instanceof Promise ? answers.then(shortMessage) : shortMessage(answers);
  }

  /** `execute`, for scripts whose compatibility date is older than RPC: a frame in each direction. */
  override async fetch(request: Request): Promise<Response> {
    const messages = decodeFrame<OperationMessage[]>(await request.arrayBuffer());
    return new Response(encodeFrame(await this.execute(messages)));
  }
}
