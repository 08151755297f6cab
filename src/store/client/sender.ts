/** How messages travel to a bucket: by RPC, by `fetch`, and with a latency. */
import { outcomeOf, shortCall } from "../core/short-form.ts";
import type { BucketNamespace, BucketService } from "../transport/bucket-service.ts";
import { decodeFrame, encodeFrame } from "../transport/frame.ts";
import { answerFailedBatch, StoreDiskClient } from "./failed-batch.ts";
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
}

export function senderByRpc({ buckets, bucketName, disk }: Destination): Sender {
  const storeDisk = new StoreDiskClient(disk, bucketName);
  const bucket = stubs(buckets, bucketName);
  const sendOnce = (messages: OperationMessage[]): Promise<OutcomeMessage[]> =>
    bucket().execute(messages);
  const send = withRecovery(sendOnce, storeDisk);
  return {
    send,
    sendOne(message, resolve, reject) {
      const call = shortCall(operationIn(message));
      if (call === null) firstOf(send([message])).then(resolve, reject);
      else {
        const answered = bucket().executeShort(layerOf(message), ...call);
        answered.then(
          (answer) => resolve(outcomeOf(answer as ShortMessage)),
          (error: unknown) =>
            firstOf(answerFailedBatch(sendOnce, storeDisk, [message], error)).then(resolve, reject),
        );
      }
    },
  };
}

/** For scripts whose compatibility date is older than RPC. */
export function senderByFetch({ buckets, bucketName, disk }: Destination): Sender {
  const storeDisk = new StoreDiskClient(disk, bucketName);
  const bucket = stubs(buckets, bucketName);
  const send = withRecovery(async (messages) => {
    const body = encodeFrame(messages);
    const response = await bucket().fetch("http://bucket/", { method: "POST", body });
    return decodeFrame(await response.arrayBuffer());
  }, storeDisk);
  return {
    send,
    sendOne: (message, resolve, reject) => void firstOf(send([message])).then(resolve, reject),
  };
}

function withRecovery(sendOnce: Sender["send"], disk: StoreDiskClient): Sender["send"] {
  return (messages) =>
    sendOnce(messages).catch((error: unknown) =>
      answerFailedBatch(sendOnce, disk, messages, error),
    );
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
