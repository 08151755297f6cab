/**
 * What Node asks of a binding through Miniflare's proxy (the bucket's calls), and tests in the
 * script's isolate (its name, and to be told of its calls).
 *
 * They find it under names that no script will use, and that do not show.
 */
import type {
  BucketCalls,
  GetRequest,
  Opened,
  PartRequest,
  PutRequest,
} from "../client/bucket-calls.ts";
import { observation, type Observer } from "../client/call-observer.ts";
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
      value: (observer: Observer | undefined) => {
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
      return bucket.get(request as GetRequest, frameOpened);
    case "call":
      return bucket.call(request as Operation, (result) => result);
    case "put":
      return bucket.put(request as PutRequest);
    case "uploadPart":
      return bucket.uploadPart(request as PartRequest);
  }
}

/**
 * An answer and its body as one stream: the length of the answer in four bytes, the answer, and
 * the rest is body. Streams inside of other values do not survive being cancelled on the way.
 *
 * A body that breaks would leave the other side waiting, so it ends instead. The other side knows
 * how long it has to be.
 */
export function frameOpened(opened: Opened | null): ReadableStream {
  const { content, ...head } = { content: undefined, ...opened };
  const encoded = new TextEncoder().encode(JSON.stringify(opened && head));
  const start = new Uint8Array(4 + encoded.length);
  new DataView(start.buffer).setUint32(0, encoded.length);
  start.set(encoded, 4);
  const body = content instanceof ArrayBuffer ? new Response(content).body : content;
  const reader = body?.getReader({ mode: "byob" });
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(start),
    async pull(controller) {
      try {
        const next = await reader?.read(new Uint8Array(chunkBytes));
        if (next !== undefined && !next.done) return controller.enqueue(next.value);
      } catch {
        // The end comes early: that is how the other side can tell.
      }
      controller.close();
    },
    cancel: (reason) => reader?.cancel(reason),
  });
}

const chunkBytes = 64 * 1024;
