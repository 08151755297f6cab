/**
 * A bucket on an S3 service. This process talks to the service itself: no runtime and no file of the
 * store's folder takes part.
 */
import type { ChecksumAlgorithm } from "../core/checksum.ts";
import { StoreError } from "../core/errors.ts";
import type { Content, Request, Result } from "../core/operations.ts";
import type { RemoteBucket } from "../remote/remote-bucket.ts";
import type { RemotePlace } from "../remote/remote-options.ts";
import {
  copyContent,
  type BucketMethod,
  type ClientBucket,
  type CopySource,
  type OpenContent,
  type OpenedObject,
} from "./client-bucket.ts";
import type { SpoolFolder } from "./spool-folder.ts";
import { ContentNotWrittenError, type WriteOptions } from "./written-content.ts";

/** The bucket is not there, or its service cannot be used. The message says why. */
export class RemoteUnusableError extends StoreError {
  constructor(message: string) {
    super(10001, message);
  }
}

interface RemoteClientBucketOptions {
  readonly name: string;
  readonly place: RemotePlace;
  readonly spool: SpoolFolder;
  /**
   * For operations that need no features of the service. Writes nothing to the service, so a key that may
   * only read suffices.
   *
   * @throws RemoteUnusableError
   */
  readonly reader: () => Promise<RemoteBucket>;
  /**
   * Finds out what the service honours, by objects that it writes and removes.
   *
   * @throws RemoteUnusableError
   */
  readonly writer: () => Promise<RemoteBucket>;
}

export class RemoteClientBucket implements ClientBucket {
  readonly name: string;
  readonly isDeletable = false;
  readonly place: RemotePlace;
  readonly #spool: SpoolFolder;
  readonly #reader: () => Promise<RemoteBucket>;
  readonly #writer: () => Promise<RemoteBucket>;

  constructor({ name, place, spool, reader, writer }: RemoteClientBucketOptions) {
    this.name = name;
    this.place = place;
    this.#spool = spool;
    this.#reader = reader;
    this.#writer = writer;
  }

  async call<M extends BucketMethod>(request: Request<M>): Promise<Result<M>> {
    const opened = needsFeatures(request) ? this.#writer() : this.#reader();
    const bucket = await opened.catch(async (error: unknown) => {
      if ("content" in request) await this.discard(request.content);
      throw error;
    });
    const outcome = await bucket.execute(request);
    if (outcome.ok) return outcome.value;
    throw new StoreError(outcome.code, outcome.text, outcome);
  }

  async get(request: Omit<Request<"get">, "method">): Promise<OpenedObject | null> {
    const found = await (await this.#reader()).get(request);
    if (found?.status !== "found") return found;
    const { content } = found;
    return {
      ...found,
      content:
        content instanceof ArrayBuffer ? new Uint8Array(content) : new StreamedContent(content),
    };
  }

  /** Nothing is read of the body when the service cannot be used. */
  async write(body: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<Content> {
    await this.#writer();
    try {
      return await this.#spool.write(body, options);
    } catch (error) {
      if (!(error instanceof ContentNotWrittenError)) throw error;
      const text = `${error.message}. Content for a remote bucket waits in the temporary folder (TMPDIR).`;
      throw new StoreError(10001, text, { lacksSpace: error.code === "ENOSPC" });
    }
  }

  copy(source: CopySource, algorithms: readonly ChecksumAlgorithm[]): Promise<Content> {
    return copyContent(this, source.opened, algorithms);
  }

  async discard(content: Content): Promise<void> {
    if ("blob" in content) await this.#spool.remove(content.blob);
  }

  follow(content: Content, onBytes: (count: number) => void): void {
    this.#spool.follow(content, onBytes);
  }
}

/** Whether an operation depends on conditions that the service honours, or leads to an operation that does. */
function needsFeatures({ method }: Request<BucketMethod>): boolean {
  return ["put", "delete", "createUpload", "uploadPart", "completeUpload"].includes(method);
}

/** Content that arrives as the caller asks for it. */
class StreamedContent implements OpenContent {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { done, value } = await this.#reader.read().catch((error: unknown) => {
        throw error instanceof StoreError
          ? error
          : new StoreError(10001, `The content broke off: ${(error as Error).message}`);
      });
      if (done) return;
      yield value;
    }
  }

  /** Ends the request, if content is left. */
  close(): void {
    void this.#reader.cancel().catch(() => {});
  }
}
