/**
 * The calls of a `StoreBucket` in Node, to the endpoint of the store's owner.
 *
 * Operations travel through the folder's socket, and this process reads and writes large content
 * itself. The way through Miniflare's proxy, which other bindings take, is three to five times as long.
 */
import { UserError } from "../../base/user-error.ts";
import { ConnectionLostError } from "../core/fault.ts";
import { StoreError, type Method } from "../core/errors.ts";
import { requiredAlgorithms } from "../core/checksum.ts";
import { type RefusedOperation } from "../core/explain-refusal.ts";
import { connectionLost, internalError, reasonOf, refusal } from "../client/failure.ts";
import { inlineBytesMax } from "../core/limits.ts";
import { validateUploadSize } from "../core/multipart.ts";
import { decodeObject } from "../core/object.ts";
import type { Content, Request, Result } from "../core/operations.ts";
import { validateWrite } from "../core/metadata.ts";
import type { Value, BucketCalls, OpenedObject } from "../client/bucket-calls.ts";
import type { ClientBucket, FoundObject, OpenedObject as OpenedFile } from "./client-bucket.ts";

type OpenedFiles = Exclude<FoundObject["content"], Uint8Array>;

/** The operations that store content, without the content. */
interface StoringOperations {
  put: Omit<Request<"put">, "content">;
  uploadPart: Omit<Request<"uploadPart">, "content">;
}

export function directCalls(bucket: ClientBucket): BucketCalls {
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
function execute<M extends Method>(bucket: ClientBucket, request: Request<M>): Promise<Result<M>> {
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
