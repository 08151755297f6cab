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
import { internalError, reasonOf, refusal, connectionLost } from "../client/failure.ts";
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

type OpenedFiles = Exclude<FoundObject["content"], Uint8Array>;

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
  return refusal(request.method, error, reasonOf(request, error.code));
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

/** Closes the files of a body that the program has dropped without a read. */
const droppedBodies = new FinalizationRegistry<OpenedFiles>((files) => files.close());

function contentOf(content: FoundObject["content"]): ArrayBuffer | ReadableStream {
  // A `Buffer` shares its memory with others, and its `slice()` does not copy.
  if (content instanceof Uint8Array) return new Uint8Array(content).buffer;
  const chunks = content.chunks();
  const stream = new ReadableStream<Uint8Array>(
    {
      type: "bytes",
      async pull(controller) {
        const { done, value } = await chunks.next();
        // The memory of a chunk is used again for the next.
        if (!done) return controller.enqueue(new Uint8Array(value));
        content.close();
        controller.close();
        (controller as ReadableByteStreamController).byobRequest?.respond(0);
      },
      async cancel() {
        await chunks.return(undefined);
        content.close();
      },
    },
    { highWaterMark: inlineBytesMax },
  );
  droppedBodies.register(stream, content);
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
 * stops reading: the next piece is asked for when less than half of a piece waits to be read. So
 * memory is bounded, and no response of the runtime stays unread.
 */
export class PulledContents {
  readonly #calls: PieceCalls;
  /** Closes the contents of streams that the program has dropped without reading them. */
  readonly #dropped = new FinalizationRegistry<number>((id) => this.#close(id));
  readonly #closing: number[] = [];

  constructor(calls: PieceCalls) {
    this.#calls = calls;
  }

  open(content: ContentDescription): ReadableStream<Uint8Array> {
    const pieces = new PieceReader(this.#calls, content);
    const end = (): void => {
      this.#dropped.unregister(pieces);
      this.#close(content.id);
    };
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const chunk = await pieces.next();
            if (chunk !== null) return controller.enqueue(chunk);
            controller.close();
          } catch (error) {
            controller.error(error);
          }
          end();
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    );
    this.#dropped.register(stream, content.id, pieces);
    return stream;
  }

  /** Contents that are closed in the same turn are closed by one call. */
  #close(id: number): void {
    if (this.#closing.push(id) > 1) return;
    setImmediate(() => this.#calls.close(this.#closing.splice(0))).unref();
  }
}

class PieceReader {
  readonly #calls: PieceCalls;
  readonly #content: ContentDescription;
  #chunks: Uint8Array[] = [];
  /** Bytes that have arrived and that the program has not read. */
  #waitingBytes = 0;
  #arrivedBytes = 0;
  #askedBytes = 0;
  #isReceiving = false;
  #failure: { readonly error: unknown } | undefined;
  #progress = Promise.withResolvers<void>();

  constructor(calls: PieceCalls, content: ContentDescription) {
    this.#calls = calls;
    this.#content = content;
  }

  /** The next bytes; `null` at the end. */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const chunk = this.#chunks.shift();
      this.#waitingBytes -= chunk?.length ?? 0;
      this.#askAhead();
      if (chunk !== undefined) return chunk;
      if (this.#failure !== undefined) throw this.#failure.error;
      if (!this.#isReceiving) return null;
      await this.#progress.promise;
    }
  }

  #askAhead(): void {
    const isNeeded = !this.#isReceiving && this.#failure === undefined;
    const isAllAsked = this.#askedBytes >= this.#content.length;
    if (!isNeeded || isAllAsked || this.#waitingBytes > pieceBytes / 2) return;
    this.#isReceiving = true;
    void this.#receive(this.#askedBytes === 0 ? firstPieceBytes : pieceBytes)
      .catch((error: unknown) => (this.#failure = { error }))
      .finally(() => {
        this.#isReceiving = false;
        this.#wake();
      });
  }

  async #receive(bytes: number): Promise<void> {
    const { id, length, onShort } = this.#content;
    this.#askedBytes = Math.min(this.#askedBytes + bytes, length);
    for await (const chunk of await this.#calls.read(id, bytes)) {
      this.#arrivedBytes += chunk.length;
      this.#waitingBytes += chunk.length;
      this.#chunks.push(chunk);
      this.#wake();
    }
    if (this.#arrivedBytes < this.#askedBytes) throw onShort(this.#arrivedBytes);
  }

  #wake(): void {
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }
}
