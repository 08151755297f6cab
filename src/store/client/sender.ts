/** The ways that operations take to a bucket. */
import type { BucketObject } from "../bucket/bucket-object.ts";
import type { Operation, Outcome } from "../core/operations.ts";
import { outcomeOf, shortCall, type ShortAnswer } from "../core/short-form.ts";
import type { Sender } from "./batch.ts";
import { decodeFrame, encodeFrame } from "./frame.ts";

type Buckets = DurableObjectNamespace<BucketObject>;

export function senderByRpc(buckets: Buckets, bucketName: string): Sender {
  const bucket = stubs(buckets, bucketName);
  return {
    send: (operations) => bucket().execute(operations),
    sendAlone(operation, resolve, reject) {
      const call = shortCall(operation);
      if (call === null) alone(bucket().execute([operation])).then(resolve, reject);
      else {
        const answered = bucket().executeShort(...call);
        answered.then((answer) => resolve(outcomeOf(answer as ShortAnswer)), reject);
      }
    },
  };
}

/** For scripts whose compatibility date is from before RPC. */
export function senderByFetch(buckets: Buckets, bucketName: string): Sender {
  const bucket = stubs(buckets, bucketName);
  const send = async (operations: Operation[]): Promise<Outcome[]> => {
    const body = encodeFrame(operations);
    const response = await bucket().fetch("http://bucket/", { method: "POST", body });
    return decodeFrame(await response.arrayBuffer());
  };
  return {
    send,
    sendAlone: (operation, resolve, reject) => void alone(send([operation])).then(resolve, reject),
  };
}

/** Operations of one turn wait side by side, as they would on one line to a far-away store. */
export function delayed(sender: Sender, milliseconds: number): Sender {
  const wait = () => new Promise((resolve) => setTimeout(resolve, milliseconds));
  return {
    send: (operations) => wait().then(() => sender.send(operations)),
    sendAlone: (operation, resolve, reject) =>
      void wait()
        .then(() => sender.sendAlone(operation, resolve, reject))
        .catch(reject),
  };
}

/** A stub belongs to the request it was made in, so there is a new one for each call. */
function stubs(buckets: Buckets, bucketName: string): () => DurableObjectStub<BucketObject> {
  let id: DurableObjectId | undefined;
  return () => buckets.get((id ??= buckets.idFromName(bucketName)));
}

async function alone(sent: Promise<Outcome[]>): Promise<Outcome> {
  const [outcome] = await sent;
  return outcome as Outcome;
}
