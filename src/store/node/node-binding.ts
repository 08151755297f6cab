/**
 * The binding in Node.
 *
 * Miniflare proxies objects of the runtime property by property. It cannot know that
 * `writeHttpMetadata(headers)` changes its argument, or that a stream from Node has no length. So
 * Node runs the same `StoreBucket` as a script, and only the calls to the bucket cross to workerd:
 * directly, to the endpoint of the store's owner, or through Miniflare's proxy. The way through the proxy
 * is three to five times as long.
 */
import { UserError } from "../../base/user-error.ts";
import { StoreBucket } from "../binding/store-bucket.ts";
import {
  type BucketCalls,
  type PartRequest,
  type PieceRequest,
  type ProxiedCall,
  type PutRequest,
  decodeHeld,
  type OpenedObject,
  type StreamValue,
  type Value,
} from "../client/bucket-calls.ts";
import {
  internalError,
  reasonOf,
  refusal,
  connectionLost,
  unpackFailure,
} from "../client/failure.ts";
import type { BucketSettings, Content, Request, Result } from "../core/operations.ts";
import { requiredAlgorithms } from "../core/checksum.ts";
import { ConnectionLostError } from "../core/fault.ts";
import { StoreError, type Method } from "../core/errors.ts";
import type { RefusedOperation } from "../core/explain-refusal.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateUploadSize } from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import { validateWrite } from "../core/metadata.ts";
import { MarkedStream } from "../client/message.ts";
import type { Bucket, FoundObject, OpenedObject as OpenedFile } from "./bucket.ts";

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
    binding["ledge:bucket"](name, ...args).catch(unpackFailure) as Promise<never>;
  const open = pulledContents({
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
      return make(await decodeHeld(answer, request.key, open));
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

/** The operations that store content, without the content. */
interface StoringOperations {
  put: Omit<Request<"put">, "content">;
  uploadPart: Omit<Request<"uploadPart">, "content">;
}

/**
 * The calls of a `StoreBucket` to the owner of the store. Operations travel through the folder's socket, and
 * this process reads and writes large content itself.
 */
export function directCalls(bucket: Bucket): BucketCalls {
  const store = async <M extends keyof StoringOperations>(
    value: Value,
    operation: StoringOperations[M],
  ): Promise<Result<M>> => {
    const method = operation.method as M;
    let content: Content;
    try {
      // All that is known is checked before the value is read.
      validateWrite(operation);
      if ("stream" in value && value.length !== null) validateUploadSize(value.length);
      const checksum = "checksum" in operation ? operation.checksum : undefined;
      const algorithms = requiredAlgorithms(checksum).filter((each) => each !== "md5");
      content = await bucket.write(chunksOf(value), { algorithms });
    } catch (error) {
      if ("stream" in value && !value.stream.locked)
        await value.stream.cancel(error).catch(() => {});
      // The error of the stream is the caller's own.
      throw error instanceof StoreError ? explained({ ...operation, method }, error) : error;
    }
    return attempt({ ...operation, method }, () =>
      execute(bucket, { ...operation, content } as unknown as Request<M>),
    );
  };
  return {
    call: (request, make) => attempt(request, () => execute(bucket, request)).then(make),
    get: (request, make) =>
      attempt({ method: "get", ...request }, () => bucket.get(request)).then((opened) =>
        make(present(opened)),
      ),
    async put({ value, ...description }) {
      const text = await store<"put">(value, { method: "put", ...description });
      return text === null ? null : decodeObject(description.key, text);
    },
    uploadPart: ({ value, ...part }) =>
      store<"uploadPart">(value, { method: "uploadPart", ...part }),
  };
}

/** `get` has a method of its own here, and a `StoreBucket` has no other call of it. */
function execute<M extends Method>(bucket: Bucket, request: Request<M>): Promise<Result<M>> {
  return (bucket.call as (request: Request<M>) => Promise<Result<M>>).call(bucket, request);
}

async function attempt<Answer>(
  request: { readonly method: Method } & RefusedOperation,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreError) throw explained(request, error);
    // As in a script.
    if (error instanceof ConnectionLostError) throw connectionLost();
    // The owner, or the connection to the owner, says what has happened.
    if (error instanceof UserError)
      throw refusal(request.method, new StoreError(10001, error.message));
    throw internalError(request.method, error);
  }
}

function explained(
  request: { readonly method: Method } & RefusedOperation,
  error: StoreError,
): Error {
  return refusal(request.method, error, reasonOf(request, error));
}

async function* chunksOf(value: Value): AsyncGenerator<Uint8Array> {
  if ("bytes" in value) return yield value.bytes;
  let size = 0;
  for await (const chunk of value.stream as ReadableStream<unknown>) {
    if (!(chunk instanceof Uint8Array)) {
      throw new TypeError("The stream has a chunk that is not a Uint8Array.");
    }
    size += chunk.length;
    yield chunk;
  }
  if (value.length !== null && size !== value.length) {
    throw new TypeError(`The stream has ${size} bytes, and its length is ${value.length}.`);
  }
}

function present(opened: OpenedFile | null): OpenedObject | null {
  if (opened?.status !== "found") return opened;
  const { status, object, range, content } = opened;
  return { status, object, range, content: contentOf(content) };
}

function contentOf(content: FoundObject["content"]): ArrayBuffer | ReadableStream {
  // A `Buffer` shares its memory with others, and its `slice()` does not copy.
  if (content instanceof Uint8Array) return new Uint8Array(content).buffer;
  return contentStream(content.chunks(), () => content.close(), inlineBytesMax);
}

/** Closes the content of streams that the program has dropped without a read. */
const dropped = new FinalizationRegistry<() => void>((close) => close());

/** @param close is called once, at the end */
function contentStream(
  chunks: AsyncGenerator<Uint8Array>,
  close: () => void,
  highWaterMark: number,
): ReadableStream<Uint8Array> {
  const end = (): void => {
    if (dropped.unregister(chunks)) close();
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      type: "bytes",
      async pull(controller) {
        const { done, value } = await chunks.next().catch((error: unknown) => {
          end();
          throw error;
        });
        // The memory of a chunk may be used again for the next.
        if (!done) return controller.enqueue(new Uint8Array(value));
        end();
        controller.close();
        (controller as ReadableByteStreamController).byobRequest?.respond(0);
      },
      async cancel() {
        await chunks.return(undefined);
        end();
      },
    },
    { highWaterMark },
  );
  dropped.register(stream, close, chunks);
  return stream;
}

const firstPieceBytes = 1024 * 1024;
const pieceBytes = 4 * 1024 * 1024;

export interface PieceCalls {
  /** The next `length` bytes; fewer when the content ends. */
  read(id: number, length: number): Promise<ReadableStream<Uint8Array>>;
  close(ids: readonly number[]): void;
}

interface ContentDescription {
  readonly id: number;
  readonly length: number;
  /** Makes the error of content that ends before `length`. */
  readonly onShort: (count: number) => Error;
}

/**
 * Content that Node receives from the runtime in pieces (`client/proxied-calls.ts`).
 *
 * No piece is asked for before the program reads. A piece is received whole, even when the program
 * stops reading, and the next piece is asked for when the program reads a piece. So memory is bounded, and no
 * response of the runtime stays unread.
 */
export function pulledContents(
  calls: PieceCalls,
): (content: ContentDescription) => ReadableStream<Uint8Array> {
  const closing: number[] = [];
  /** Contents that are closed in the same turn are closed by one call. */
  const close = (id: number): void => {
    if (closing.push(id) > 1) return;
    setImmediate(() => calls.close(closing.splice(0))).unref();
  };
  return (content) => contentStream(pulledChunks(calls, content), () => close(content.id), 0);
}

async function* pulledChunks(
  calls: PieceCalls,
  { id, length, onShort }: ContentDescription,
): AsyncGenerator<Uint8Array> {
  const receive = async (bytes: number): Promise<Uint8Array[]> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await calls.read(id, bytes)) chunks.push(chunk);
    return chunks;
  };
  let asked = firstPieceBytes;
  let arrived = 0;
  let next = receive(asked);
  for (;;) {
    const chunks = await next;
    const expected = Math.min(asked, length);
    if (asked < length) {
      next = receive(pieceBytes);
      // The program may stop before this piece.
      next.catch(() => {});
      asked += pieceBytes;
    }
    for (const chunk of chunks) {
      arrived += chunk.length;
      yield chunk;
    }
    if (arrived < expected) throw onShort(arrived);
    if (expected === length) return;
  }
}
