/** A bucket at the owner's endpoint: operations, and content of any size from files and to them. */
import { hash, randomUUID } from "node:crypto";
import { UserError } from "../../base/user-error.ts";
import { damagedError } from "../client/failure.ts";
import { BlobDamagedError } from "../core/blob-damage.ts";
import { requiredAlgorithms, type Checksums, type ExpectedChecksum } from "../core/checksum.ts";
import { inlineBytesMax, listLimitMax, uploadBytesMax } from "../core/limits.ts";
import type { Method } from "../core/methods.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject, decodeObjects } from "../core/object-encoding.ts";
import type {
  ObjectDescription,
  DescribedObject,
  ObjectRecord,
  Request,
  Result,
} from "../core/operations.ts";
import { requestHeader, type CopyRequest } from "../endpoint/protocol.ts";
import { BlobFiles, joinBytes } from "./blob-files.ts";
import { partBytes, type FileContent } from "./file-content.ts";
import { OperationQueue } from "./operation-queue.ts";
import type { OwnerConnection } from "./owner-connection.ts";

export interface ListPage {
  readonly objects: readonly DescribedObject[];
  readonly prefixes: readonly string[];
}

/** An object and its content. A chunk of the content is valid until the next one is requested. */
export interface FetchedObject {
  readonly object: DescribedObject;
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
}

type NewObject = ObjectDescription & {
  readonly key: string;
  /** The hash that the content must have. The object stores it. */
  readonly checksum?: ExpectedChecksum;
};

/** How often a `get` is repeated when the object is replaced between its row and its files. */
const attemptsMax = 100;

export class EndpointBucket {
  readonly name: string;
  readonly #owner: OwnerConnection;
  readonly #queue: OperationQueue;

  constructor(owner: OwnerConnection, name: string) {
    this.name = name;
    this.#owner = owner;
    this.#queue = new OperationQueue(owner, name);
  }

  /** @throws UserError with the reason of the bucket when the bucket refuses the operation */
  async call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    const outcome = await this.#queue.execute(request);
    if (outcome.ok) return outcome.value;
    throw new UserError(`${outcome.text} (${outcome.code})`);
  }

  async head(key: string): Promise<DescribedObject | null> {
    const text = await this.call({ method: "head", key });
    return text === null ? null : decodeObject(key, text);
  }

  /** All objects in the order of their keys, in pages. */
  async *list(options: { prefix?: string; delimiter?: string } = {}): AsyncGenerator<ListPage> {
    let cursor: string | undefined;
    do {
      const page = await this.call({
        method: "list",
        prefix: options.prefix ?? "",
        delimiter: options.delimiter ?? "",
        limit: listLimitMax,
        includeHttp: true,
        includeCustom: true,
        ...(cursor !== undefined && { cursor }),
      });
      cursor = page.cursor;
      const objects = decodeObjects(page.objectsJson, { http: true, custom: true });
      yield { objects: objects as DescribedObject[], prefixes: page.prefixes };
    } while (cursor !== undefined);
  }

  /** @param onBytes is called with the number of bytes that have been sent; it may go back */
  async put(
    object: NewObject,
    file: FileContent,
    onBytes?: (count: number) => void,
  ): Promise<ObjectRecord> {
    const { checksum, ...description } = object;
    if (file.size > uploadBytesMax) return this.#putParts(description, file, onBytes);
    if (file.size > inlineBytesMax) {
      const whole = { start: 0, length: file.size };
      return this.#send("put", object, file, whole, onBytes);
    }
    const bytes = file.bytes();
    const checksums: Checksums = Object.fromEntries(
      requiredAlgorithms(checksum).map((algorithm) => [algorithm, hash(algorithm, bytes)]),
    );
    const text = await this.call({ method: "put", ...object, content: { bytes, checksums } });
    // A put without a condition never returns `null`.
    return decodeObject(object.key, text as string);
  }

  /**
   * Passes an object and its content to `receive`, and again if the object is replaced before all of
   * its files are open. Returns `null` when the object does not exist.
   *
   * @throws UserError when a file of the object is missing or has another size
   */
  async get<Received>(
    key: string,
    receive: (fetched: FetchedObject) => Promise<Received>,
  ): Promise<Received | null> {
    let damaged: { readonly version: string; readonly error: BlobDamagedError } | undefined;
    for (let attempt = 1; ; attempt++) {
      const found = await this.call({ method: "get", key });
      if (found?.status !== "found") return null;
      const object = decodeObject(key, found.object);
      if (damaged !== undefined && (damaged.version === object.version || attempt > attemptsMax)) {
        throw new UserError(damagedError(key, damaged.error).message);
      }
      const files = new BlobFiles(this.#owner.folder, this.name, found.content);
      try {
        await files.open();
        return await receive({ object, content: joinBytes(found.content) ?? files.chunks() });
      } catch (error) {
        if (!(error instanceof BlobDamagedError)) throw error;
        // The object may have been replaced since the answer; then its old files are removed.
        damaged = { version: object.version, error };
      } finally {
        await files.close();
      }
    }
  }

  /** Copies an object into this bucket. Returns `null` when the source does not exist. */
  copy(frame: CopyRequest): Promise<ObjectRecord | null> {
    const id = randomUUID();
    return this.#owner.run((endpoint) => endpoint.requestJson(`/copy/${this.name}`, { id, frame }));
  }

  collectGarbage(): Promise<number> {
    return this.#owner.run((endpoint) => endpoint.requestJson(`/collect/${this.name}`));
  }

  /** The name of the file of the bucket's database, without its extension. */
  databaseName(): Promise<string> {
    return this.#owner.run((endpoint) =>
      endpoint.requestText(`/database/${this.name}`, { method: "GET" }),
    );
  }

  /** Stores content that is too large for one upload. On failure the upload is aborted. */
  async #putParts(
    object: NewObject,
    file: FileContent,
    onBytes?: (count: number) => void,
  ): Promise<ObjectRecord> {
    const { key } = object;
    const { uploadId } = await this.call({ method: "createUpload", ...object });
    try {
      const parts: PartReference[] = [];
      for (let start = 0; start < file.size; start += partBytes) {
        const part = { key, uploadId, partNumber: parts.length + 1 };
        const length = Math.min(partBytes, file.size - start);
        const range = { start, length };
        parts.push(await this.#send<PartReference>("part", part, file, range, onBytes));
      }
      const text = await this.call({ method: "completeUpload", key, uploadId, parts });
      return decodeObject(key, text);
    } catch (error) {
      await this.call({ method: "abortUpload", key, uploadId }).catch(() => {});
      throw error;
    }
  }

  #send<Value = ObjectRecord>(
    action: "put" | "part",
    description: object,
    file: FileContent,
    { start, length }: { readonly start: number; readonly length: number },
    onBytes?: (count: number) => void,
  ): Promise<Value> {
    const id = randomUUID();
    const header = Buffer.from(JSON.stringify(description)).toString("base64");
    return this.#owner.run((endpoint) =>
      endpoint.requestJson(`/${action}/${this.name}`, {
        id,
        headers: { [requestHeader]: header },
        content: { stream: file.stream(start, length, onBytes), length },
      }),
    );
  }
}
