/** How messages travel to a bucket: by RPC, by `fetch`, and with a latency. */
import { outcomeOf, shortCall } from "../core/short-form.ts";
import type { BucketNamespace, BucketService } from "../transport/bucket-service.ts";
import { decodeFrame, encodeFrame } from "../transport/frame.ts";
import { answerFailedBatch, StoreDiskClient, type Recovery } from "./failed-batch.ts";
import {
  layerOf,
  operationIn,
  type OperationMessage,
  type OutcomeMessage,
  type ShortMessage,
} from "../transport/message.ts";

export interface Sender {
  send(messages: OperationMessage[]): Promise<OutcomeMessage[]>;
  /** For a message that travels by itself, as most do. */
  sendOne(
    message: OperationMessage,
    resolve: (answer: OutcomeMessage) => void,
    reject: (error: unknown) => void,
  ): void;
}

/** Where messages go, and whom to ask when they are not answered. */
export interface Destination {
  readonly buckets: BucketNamespace;
  readonly bucketName: string;
  /** The disk of the store (`bucket/store-disk.ts`). */
  readonly disk: Fetcher;
  /** Of the request of another process that the messages belong to. */
  readonly requestId?: string | undefined;
  /** The program that has sent this request (`transport/client-name.ts`). */
  readonly clientName?: string | undefined;
}

export function senderByRpc(destination: Destination): Sender {
  const { buckets, bucketName, disk, requestId, clientName } = destination;
  const bucket = stubs(buckets, bucketName);
  const recovery: Recovery = {
    send: (messages) => bucket().execute(messages, requestId, clientName),
    disk: new StoreDiskClient(disk, bucketName),
    hasRequestId: requestId !== undefined,
  };
  const send = withRecovery(recovery);
  return {
    send,
    sendOne(message, resolve, reject) {
      const call = requestId === undefined ? shortCall(operationIn(message)) : null;
      if (call === null) firstOf(send([message])).then(resolve, reject);
      else {
        const answered = bucket().executeShort(layerOf(message), ...call);
        answered.then(
          (answer) => resolve(outcomeOf(answer as ShortMessage)),
          (error: unknown) =>
            firstOf(answerFailedBatch(recovery, [message], error)).then(resolve, reject),
        );
      }
    },
  };
}

/** For scripts whose compatibility date is older than RPC. */
export function senderByFetch({ buckets, bucketName, disk }: Destination): Sender {
  const bucket = stubs(buckets, bucketName);
  const send = withRecovery({
    async send(messages) {
      const body = encodeFrame(messages);
      const response = await bucket().fetch("http://bucket/", { method: "POST", body });
      return decodeFrame(await response.arrayBuffer());
    },
    disk: new StoreDiskClient(disk, bucketName),
    hasRequestId: false,
  });
  return {
    send,
    sendOne: (message, resolve, reject) => void firstOf(send([message])).then(resolve, reject),
  };
}

function withRecovery(recovery: Recovery): Sender["send"] {
  return (messages) =>
    recovery.send(messages).catch((error: unknown) => answerFailedBatch(recovery, messages, error));
}

/** Adds a latency. Messages wait at the same time, as they would on one line to a distant store. */
export function delayed(sender: Sender, milliseconds: number): Sender {
  const wait = () => new Promise((resolve) => setTimeout(resolve, milliseconds));
  return {
    send: (messages) => wait().then(() => sender.send(messages)),
    sendOne: (message, resolve, reject) =>
      void wait()
        .then(() => sender.sendOne(message, resolve, reject))
        .catch(reject),
  };
}

/** A stub belongs to the request that made it, so each call makes a new stub. */
function stubs(
  buckets: BucketNamespace,
  bucketName: string,
): () => DurableObjectStub<BucketService> {
  let id: DurableObjectId | undefined;
  return () => buckets.get((id ??= buckets.idFromName(bucketName)));
}

async function firstOf(sent: Promise<OutcomeMessage[]>): Promise<OutcomeMessage> {
  const [answer] = await sent;
  return answer as OutcomeMessage;
}
