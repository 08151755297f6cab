/**
 * Buckets in Node.
 *
 * Miniflare proxies objects of the runtime one property at a time, and cannot know that
 * `writeHttpMetadata(headers)` changes its argument or that a stream from Node has no length. So
 * Node runs the same `StoreBucket` as a script does, and only its calls to the bucket cross over.
 */
import type { ProxyNodeBinding } from "miniflare";
import type { BucketSettings } from "../binding/invocation.ts";
import { StoreBucket } from "../binding/store-bucket.ts";
import type {
  BucketCalls,
  Opened,
  PartRequest,
  PutRequest,
  StreamValue,
} from "../client/bucket-calls.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { readFramedAnswer } from "./framed-answer.ts";
import { loadMiniflare } from "../../base/packages.ts";
import { MarkedStream } from "./marked-stream.ts";

/** What is known of an opened object before its body. */
type OpenedHead = DistributiveOmit<Opened, "content">;
type DistributiveOmit<T, K extends string> = T extends unknown ? Omit<T, K> : never;

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
  const { ProxyNodeBinding: NodeBinding } = loadMiniflare();
  return new NodeBinding({
    get(remote: object, property) {
      const bucket = bucketOf(remote);
      const value: unknown = Reflect.get(bucket, property);
      // A method's own `this` would be the proxy, which is no bucket.
      return typeof value === "function" && property !== "constructor"
        ? (value as (...args: unknown[]) => unknown).bind(bucket)
        : value;
    },
    // As in a script, a bucket shows nothing of its own.
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
    has: (remote: object, property) => Reflect.has(bucketOf(remote), property),
    getPrototypeOf: (remote: object) => Reflect.getPrototypeOf(bucketOf(remote)),
  });
}

function remoteCalls(remote: RemoteBucket): BucketCalls {
  const ask = (name: keyof BucketCalls, ...args: unknown[]): Promise<never> =>
    remote["ledge:bucket"](name, ...args) as Promise<never>;
  const send = async (
    name: "put" | "uploadPart",
    { value, ...request }: PutRequest | PartRequest,
  ): Promise<never> => {
    if ("bytes" in value && value.bytes.length <= inlineBytesMax) {
      return ask(name, { ...request, value });
    }
    const { stream, length } = "bytes" in value ? streamed(value.bytes) : value;
    const sealed = new MarkedStream(stream);
    try {
      return await ask(name, {
        ...request,
        value: { stream: sealed.readable, length, sealed: true },
      });
    } catch (error) {
      throw sealed.failure === undefined ? error : sealed.failure.error;
    }
  };
  return {
    call: (request, make) => ask("call", request).then(make),
    async get(request, make) {
      const answer = await readFramedAnswer<OpenedHead | null>(await ask("get", request));
      const { head } = answer;
      return make(
        head?.status === "found"
          ? { ...head, content: answer.body(request.key, head.range.length) }
          : head,
      );
    },
    put: (request) => send("put", request),
    uploadPart: (request) => send("uploadPart", request),
  };
}

/** Bytes cross over as text, which streams do not: only small values go that way. */
function streamed(bytes: Uint8Array): StreamValue {
  return {
    stream: new Blob([bytes as Uint8Array<ArrayBuffer>]).stream(),
    length: bytes.length,
  };
}
