/**
 * What Node asks of a binding through Miniflare's proxy (the bucket's calls), and tests in the
 * script's isolate (its name, and to be told of its calls).
 *
 * They find it under names that no script will use, and that do not show.
 */
import type { BucketCalls, GetRequest, PartRequest, PutRequest } from "../client/bucket-calls.ts";
import { observation, type CallObserver } from "../client/call-observer.ts";
import { encodeOpened } from "../client/opened-object.ts";
import type { Operation } from "../core/operations.ts";

export function answeringRemote<Binding extends object>(
  binding: Binding,
  bucket: BucketCalls,
  bucketName: string,
): Binding {
  // Configurable: or else the proxy may not say that they are there, and looking at the bucket in
  // Node throws.
  return Object.defineProperties(binding, {
    "ledge:bucket": {
      value: (name: keyof BucketCalls, request: unknown) => answer(bucket, name, request),
      configurable: true,
    },
    "ledge:name": { value: bucketName, configurable: true },
    "ledge:observe": {
      value: (observer: CallObserver | undefined) => {
        observation.current = observer;
      },
      configurable: true,
    },
  });
}

async function answer(
  bucket: BucketCalls,
  name: keyof BucketCalls,
  request: unknown,
): Promise<unknown> {
  switch (name) {
    case "get":
      return bucket.get(request as GetRequest, encodeOpened);
    case "call":
      return bucket.call(request as Operation, (result) => result);
    case "put":
      return bucket.put(request as PutRequest);
    case "uploadPart":
      return bucket.uploadPart(request as PartRequest);
  }
}
