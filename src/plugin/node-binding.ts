/**
 * Buckets in Node.
 *
 * Miniflare proxies objects of the runtime one property at a time, and cannot know that
 * `writeHttpMetadata(headers)` changes its argument or that a stream from Node has no length. So
 * Node runs the same `StoreBucket` as a script does, and only its calls to the bucket cross over.
 */
import { ProxyNodeBinding } from "miniflare";
import type { BucketSettings } from "../store/binding/settings.ts";
import { StoreBucket } from "../store/binding/store-bucket.ts";
import type { BucketCalls, Value } from "../store/client/bucket-calls.ts";
import { inlineBytesMax } from "../store/core/limits.ts";

/** The binding in workerd, as Miniflare's proxy shows it. */
interface RemoteBucket {
  "ledge:bucket": (name: keyof BucketCalls, ...args: unknown[]) => Promise<unknown>;
}

export function nodeBinding(settings: BucketSettings): ProxyNodeBinding {
  const buckets = new WeakMap<object, StoreBucket>();
  const bucketOf = (remote: object): StoreBucket => {
    let bucket = buckets.get(remote);
    if (bucket === undefined) {
      bucket = new StoreBucket(remoteCalls(remote as RemoteBucket), {
        ...settings,
        allowUnsizedStreams: true,
      });
      buckets.set(remote, bucket);
    }
    return bucket;
  };
  return new ProxyNodeBinding({
    get(remote: object, property) {
      const bucket = bucketOf(remote);
      const value: unknown = Reflect.get(bucket, property);
      // A method's own `this` would be the proxy, which is no bucket.
      return typeof value === "function" && property !== "constructor"
        ? (value as (...args: unknown[]) => unknown).bind(bucket)
        : value;
    },
    has: (remote: object, property) => Reflect.has(bucketOf(remote), property),
    getPrototypeOf: (remote: object) => Reflect.getPrototypeOf(bucketOf(remote)),
  });
}

function remoteCalls(remote: RemoteBucket): BucketCalls {
  const ask = (name: keyof BucketCalls, ...args: unknown[]): Promise<never> =>
    remote["ledge:bucket"](name, ...args) as Promise<never>;
  return {
    call: (action, request) => ask("call", action, request),
    get: (request) => ask("get", request),
    put: (request) => ask("put", { ...request, value: portable(request.value) }),
    uploadPart: (request) => ask("uploadPart", { ...request, value: portable(request.value) }),
  };
}

/** Bytes cross over as text, which streams do not: only small values go that way. */
function portable(value: Value): Value {
  if ("stream" in value || value.bytes.length <= inlineBytesMax) return value;
  const stream = new Blob([value.bytes as Uint8Array<ArrayBuffer>]).stream();
  return { stream, length: value.bytes.length };
}
