/**
 * The binding in Node.
 *
 * Miniflare proxies objects of the runtime property by property. It cannot know that
 * `writeHttpMetadata(headers)` changes its argument, or that a stream from Node has no length. So
 * Node runs the same `StoreBucket` as a script, and only the calls to the bucket cross to workerd.
 */
import type { BucketSettings } from "../core/operations.ts";
import { StoreBucket } from "../binding/store-bucket.ts";
import {
  type BucketCalls,
  type PartRequest,
  type PieceRequest,
  type ProxiedCall,
  type PutRequest,
  decodeHeld,
  type StreamValue,
} from "../client/bucket-calls.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { MarkedStream } from "../client/message.ts";
import { PulledContents } from "./pulled-content.ts";

/** Miniflare's proxy of the binding in workerd (`client/proxied-calls.ts`). */
interface ProxiedBinding {
  "ledge:bucket": (name: ProxiedCall, ...args: unknown[]) => Promise<unknown>;
}

/** The behaviour of a bucket in Node, for the proxy that Miniflare makes of the binding. */
export function nodeBinding(settings: BucketSettings): ProxyHandler<object> {
  const buckets = new WeakMap<object, StoreBucket>();
  const bucketOf = (binding: object): StoreBucket => {
    let bucket = buckets.get(binding);
    if (bucket === undefined) {
      bucket = new StoreBucket(proxiedCalls(binding as ProxiedBinding), {
        ...settings,
        allowUnsizedStreams: true,
      });
      buckets.set(binding, bucket);
    }
    return bucket;
  };
  return {
    get(binding: object, property) {
      const bucket = bucketOf(binding);
      const value: unknown = Reflect.get(bucket, property);
      // Called through the proxy, a method would have the proxy as `this`.
      return typeof value === "function" && property !== "constructor"
        ? (value as (...args: unknown[]) => unknown).bind(bucket)
        : value;
    },
    // As in a script, a bucket has no own properties.
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    has: (binding: object, property) => Reflect.has(bucketOf(binding), property),
    getPrototypeOf: (binding: object) => Reflect.getPrototypeOf(bucketOf(binding)),
  };
}

function proxiedCalls(binding: ProxiedBinding): BucketCalls {
  const invoke = (name: ProxiedCall, ...args: unknown[]): Promise<never> =>
    binding["ledge:bucket"](name, ...args) as Promise<never>;
  const contents = new PulledContents({
    read: (id, length) => invoke("read", { id, length } satisfies PieceRequest),
    // After `dispose()` the proxy refuses calls, and the runtime has closed its files.
    close: (ids) => void (async () => invoke("close", ids))().catch(() => {}),
  });
  const send = async (
    name: "put" | "uploadPart",
    { value, ...request }: PutRequest | PartRequest,
  ): Promise<never> => {
    if ("bytes" in value && value.bytes.length <= inlineBytesMax) {
      return invoke(name, { ...request, value });
    }
    const { stream, length } = "bytes" in value ? streamOf(value.bytes) : value;
    const marked = new MarkedStream(stream);
    try {
      return await invoke(name, {
        ...request,
        value: { stream: marked.readable, length, marked: true },
      });
    } catch (error) {
      throw marked.failure === undefined ? error : marked.failure.error;
    }
  };
  return {
    call: (request, make) => invoke("call", request).then(make),
    async get(request, make) {
      const answer = await invoke("get", request);
      const opened = await decodeHeld(answer, request.key, (content) => contents.open(content));
      return make(opened);
    },
    put: (request) => send("put", request),
    uploadPart: (request) => send("uploadPart", request),
  };
}

/** A large value travels as a stream: Miniflare encodes bytes as text. */
function streamOf(bytes: Uint8Array): StreamValue {
  return {
    stream: new Blob([bytes as Uint8Array<ArrayBuffer>]).stream(),
    length: bytes.length,
  };
}
