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
 */
import type { ChannelAnswer, ChannelRequest } from "../transport/channel-message.ts";
import { decodeFrame, encodeFrame } from "../transport/frame.ts";
import type { BucketService } from "../transport/bucket-service.ts";

/** RFC 6455, section 7.4.1: the other end has an unexpected problem. */
const internalErrorCode = 1011;

/** @returns the response to the request for an upgrade */
export function openChannel(execute: BucketService["execute"]): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  const answer = async (data: ArrayBuffer): Promise<void> => {
    try {
      const { id, messages } = decodeFrame<ChannelRequest>(data);
      const executed = execute([...messages], id);
      const answers = executed instanceof Promise ? await executed : executed;
      server.send(encodeFrame({ id, answers } satisfies ChannelAnswer));
    } catch {
      server.close(internalErrorCode);
    }
  };
  server.accept();
  server.binaryType = "arraybuffer";
  server.addEventListener("message", ({ data }) => void answer(data as ArrayBuffer));
  server.addEventListener("close", () => server.close());
  return new Response(null, { status: 101, webSocket: client });
}
