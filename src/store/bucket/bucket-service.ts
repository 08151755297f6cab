/**
 * How the Durable Object of a bucket is called: by RPC, by `fetch`, and through a channel.
 * `BucketObject` extends the service in the runtime that owns the databases, and `OwnerBucket` in the
 * runtime of a client process.
 */
import { DurableObject } from "cloudflare:workers";
import { operationOf, shortAnswer, type ShortAnswer, type ShortCall } from "../core/object.ts";
import type { Operation, Outcome } from "../core/operations.ts";
import {
  decodeFrame,
  encodeFrame,
  type ChannelAnswer,
  type ChannelRequest,
} from "../client/message.ts";

export abstract class BucketService<Env = unknown> extends DurableObject<Env> {
  /**
   * Executes operations in order. Their writes are durable when the answer arrives.
   *
   * @param requestId of a request that may be a repetition: its writes happen once
   * @param clientName of the program that has sent the request (`client/message.ts`)
   */
  abstract execute(
    operations: Operation[],
    requestId?: string,
    clientName?: string,
  ): Outcome[] | Promise<Outcome[]>;

  /** Removes the files that crashes left. Returns the number of files. */
  abstract collectGarbage(): Promise<number>;

  /** `execute`, for one operation in its short form. Only a call in a test has a `layer`. */
  executeShort(layer: number | undefined, ...call: ShortCall): ShortAnswer | Promise<ShortAnswer> {
    const operation = operationOf(call);
    const outcomes = this.execute([layer === undefined ? operation : { ...operation, layer }]);
    return outcomes instanceof Promise
      ? outcomes.then(([outcome]) => shortAnswer(outcome as Outcome))
      : shortAnswer(outcomes[0] as Outcome);
  }

  /** `execute`, for scripts whose compatibility date is older than RPC: a frame in each direction. */
  override async fetch(request: Request): Promise<Response> {
    const operations = decodeFrame<Operation[]>(await request.arrayBuffer());
    return new Response(encodeFrame(await this.execute(operations)));
  }
}

/**
 * A channel: a WebSocket from another process to the object of a bucket.
 *
 * A request to the endpoint makes a context in workerd, an object's stub and an RPC call, which take
 * more time than a small operation. A channel makes them once.
 *
 * workerd holds the messages that an object sends until its writes are durable, as it holds
 * responses. When a batch fails, the channel ends without an answer, as workerd ends all channels
 * of an object whose commit has failed. Then the client sends the batch again, by a request with
 * the same id, which the endpoint answers with the reason.
 *
 * @returns the response to the request for an upgrade
 */
export function openChannel(execute: BucketService["execute"]): Response {
  return acceptSocket(async (data) => {
    const { id, operations } = decodeFrame<ChannelRequest>(data);
    const executed = execute([...operations], id);
    const answers = executed instanceof Promise ? await executed : executed;
    return encodeFrame({ id, answers } satisfies ChannelAnswer);
  });
}

/** RFC 6455, section 7.4.1: the other end has an unexpected problem. */
const internalErrorCode = 1011;

/** Accepts a WebSocket, and answers each message. A message that fails ends the connection. */
export function acceptSocket(
  answer: (data: ArrayBuffer) => Promise<Uint8Array>,
  onEnd: () => void = () => {},
): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  const end = (): void => {
    onEnd();
    server.close();
  };
  server.accept();
  server.binaryType = "arraybuffer";
  server.addEventListener("message", ({ data }) => {
    answer(data as ArrayBuffer)
      .then((message) => server.send(message))
      .catch(() => server.close(internalErrorCode));
  });
  server.addEventListener("close", end);
  server.addEventListener("error", end);
  return new Response(null, { status: 101, webSocket: client });
}
