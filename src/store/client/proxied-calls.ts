/**
 * Properties of a binding beside its interface: non-enumerable, with names that no script uses.
 *
 * `ledge:bucket` executes the calls of a bucket in Node, which arrive through Miniflare's proxy.
 * `ledge:name`, `ledge:observe` and `ledge:remote` serve tests in the script's isolate.
 */
import {
  type BucketCalls,
  type GetRequest,
  type PartRequest,
  type PieceRequest,
  type ProxiedCall,
  type PutRequest,
  observation,
  type CallObserver,
  encodeHeld,
} from "./bucket-calls.ts";
import type { Operation } from "../core/operations.ts";
import { packFailure } from "./failure.ts";
import { StreamSource } from "./blob-directory.ts";

export function defineHiddenProperties<Binding extends object>(
  binding: Binding,
  bucket: BucketCalls,
  bucketName: string,
  { isRemote = false } = {},
): Binding {
  const contents = new OpenContents();
  const properties = {
    "ledge:bucket": (name: ProxiedCall, request: unknown) =>
      execute(bucket, contents, name, request).catch(packFailure),
    "ledge:name": bucketName,
    "ledge:remote": isRemote,
    "ledge:observe": (observer: CallObserver | undefined) => {
      observation.current = observer;
    },
  };
  for (const [name, value] of Object.entries(properties)) {
    // Configurable, because a proxy may not report a non-configurable property that its own target
    // does not have: inspecting the bucket in Node would throw.
    Object.defineProperty(binding, name, { value, configurable: true });
  }
  return binding;
}

async function execute(
  bucket: BucketCalls,
  contents: OpenContents,
  name: ProxiedCall,
  request: unknown,
): Promise<unknown> {
  switch (name) {
    case "get":
      return bucket.get(request as GetRequest, (opened) =>
        encodeHeld(opened, (content) => contents.add(content)),
      );
    case "read": {
      const { id, length } = request as PieceRequest;
      return contents.read(id, length);
    }
    case "close":
      return contents.close(request as number[]);
    case "call":
      return bucket.call(request as Operation, (result) => result);
    case "put":
      return bucket.put(request as PutRequest);
    case "uploadPart":
      return bucket.uploadPart(request as PartRequest);
  }
}

/**
 * The contents that a program in Node has opened.
 *
 * A response through Miniflare's proxy that is not read to its end keeps its connection, and
 * `dispose()` waits for the connection forever. So content does not travel as one response: the
 * file is opened and stays open here, and Node asks for one piece after the other as its reader
 * needs them (`node/node-binding.ts`). Node reads each piece at once and whole.
 */

/** The size of one read of a file. Pieces are multiples of it. */
const readBytes = 64 * 1024;

class OpenContents {
  readonly #sources = new Map<number, StreamSource>();
  #lastId = 0;

  /** Returns the id by which `read` and `close` know the content. */
  add(content: ReadableStream): number {
    const id = ++this.#lastId;
    this.#sources.set(id, new StreamSource(content));
    return id;
  }

  /**
   * The next `length` bytes, a multiple of `readBytes`. There are fewer at the end of the content,
   * and when the content fails: a failure would leave the reader waiting, and the reader knows how
   * long the content has to be. Content that has ended is closed.
   */
  read(id: number, length: number): ReadableStream {
    const source = this.#sources.get(id);
    let count = 0;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const bytes = await source?.read(new ArrayBuffer(readBytes)).catch(() => undefined);
        if (bytes !== undefined && bytes.length > 0) controller.enqueue(bytes);
        count += readBytes;
        if (bytes?.length === readBytes && count < length) return;
        controller.close();
        if (bytes?.length !== readBytes) await this.close([id]);
      },
      cancel: () => this.close([id]),
    });
  }

  async close(ids: readonly number[]): Promise<void> {
    const sources = ids.map((id) => this.#sources.get(id));
    for (const id of ids) this.#sources.delete(id);
    await Promise.allSettled(sources.map(async (source) => source?.cancel("The reader has ended")));
  }
}
