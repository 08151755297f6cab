/** A bucket at the owner's endpoint: operations, and content of any size from files and to them. */
import { hash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { requiredAlgorithms, type Checksums, type ExpectedChecksum } from "../core/checksum.ts";
import { inlineBytesMax, listLimitMax, uploadBytesMax } from "../core/limits.ts";
import type { Method } from "../core/methods.ts";
import type { PartReference } from "../core/multipart.ts";
import { decodeObject, decodeObjects } from "../core/object-encoding.ts";
import type {
  ContentSlice,
  ObjectDescription,
  ObjectRecord,
  Request,
  Result,
} from "../core/operations.ts";
import { requestHeader, type CopyRequest } from "../endpoint/protocol.ts";
import { decodeOpened } from "../client/opened-object.ts";
import { EndpointClosedError } from "./endpoint-client.ts";
import { partBytes, type FileContent } from "./file-content.ts";
import { OperationQueue } from "./operation-queue.ts";
import type { OwnerConnection } from "./owner-connection.ts";

export interface ListPage {
  readonly objects: readonly Required<ObjectRecord>[];
  readonly prefixes: readonly string[];
}

/** An object and its content. A stream has to be read. */
export interface FetchedObject {
  readonly object: Required<ObjectRecord>;
  readonly content: Uint8Array | Readable;
}

type NewObject = ObjectDescription & {
  readonly key: string;
  /** The hash that the content must have. The object stores it. */
  readonly checksum?: ExpectedChecksum;
};

export class EndpointBucket {
  readonly name: string;
  readonly #owner: OwnerConnection;
  readonly #queue: OperationQueue;

  constructor(owner: OwnerConnection, name: string) {
    this.name = name;
    this.#owner = owner;
    this.#queue = new OperationQueue(owner, name);
  }

  call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    return this.#queue.call(request);
  }

  async head(key: string): Promise<Required<ObjectRecord> | null> {
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
      yield { objects: objects as Required<ObjectRecord>[], prefixes: page.prefixes };
    } while (cursor !== undefined);
  }

  async put(object: NewObject, file: FileContent): Promise<ObjectRecord> {
    const { checksum, ...description } = object;
    if (file.size > uploadBytesMax) return this.#putParts(description, file);
    if (file.size > inlineBytesMax) return this.#send("put", object, file, 0, file.size);
    const bytes = file.bytes();
    const checksums: Checksums = Object.fromEntries(
      requiredAlgorithms(checksum).map((algorithm) => [algorithm, hash(algorithm, bytes)]),
    );
    const text = await this.call({ method: "put", ...object, content: { bytes, checksums } });
    // A put without a condition never returns `null`.
    return decodeObject(object.key, text as string);
  }

  /**
   * Passes an object and its content to `receive`, again if the owner changes meanwhile. Returns
   * `null` when the object does not exist.
   *
   * @param size the expected size of the object: a small object is read by an operation of a batch
   */
  async get<Received>(
    key: string,
    size: number,
    receive: (fetched: FetchedObject) => Promise<Received>,
  ): Promise<Received | null> {
    if (size <= inlineBytesMax) {
      const found = await this.call({ method: "get", key });
      if (found?.status !== "found") return null;
      const content = joinBytes(found.content);
      if (content !== null) return receive({ object: decodeObject(key, found.object), content });
    }
    return this.#owner.run(async (endpoint) => {
      const response = await endpoint.request(`/get/${this.name}`, { frame: { key } });
      let connectionError: Error | undefined;
      response.once("error", (error) => (connectionError = error));
      try {
        const opened = await decodeOpened(Readable.toWeb(response) as ReadableStream, key);
        if (opened?.status !== "found") return null;
        const object = opened.object as Required<ObjectRecord>;
        return await receive({ object, content: Readable.fromWeb(opened.content as never) });
      } catch (error) {
        throw connectionError === undefined
          ? error
          : new EndpointClosedError(connectionError.message);
      } finally {
        response.destroy();
      }
    });
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
  async databaseName(): Promise<string> {
    const name = await this.#owner.run((endpoint) =>
      endpoint.requestBytes(`/database/${this.name}`, { method: "GET" }),
    );
    return name.toString("utf8");
  }

  /** Stores content that is too large for one upload. On failure the upload is aborted. */
  async #putParts(object: NewObject, file: FileContent): Promise<ObjectRecord> {
    const { key } = object;
    const { uploadId } = await this.call({ method: "createUpload", ...object });
    try {
      const parts: PartReference[] = [];
      for (let start = 0; start < file.size; start += partBytes) {
        const part = { key, uploadId, partNumber: parts.length + 1 };
        const length = Math.min(partBytes, file.size - start);
        parts.push(await this.#send<PartReference>("part", part, file, start, length));
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
    start: number,
    length: number,
  ): Promise<Value> {
    const id = randomUUID();
    const header = Buffer.from(JSON.stringify(description)).toString("base64");
    return this.#owner.run((endpoint) =>
      endpoint.requestJson(`/${action}/${this.name}`, {
        id,
        headers: { [requestHeader]: header },
        content: { stream: file.stream(start, length), length },
      }),
    );
  }
}

/** The bytes of content that came with the answer; `null` when some of it is in files. */
function joinBytes(content: readonly ContentSlice[]): Uint8Array | null {
  const slices = content.filter((slice) => "bytes" in slice);
  if (slices.length < content.length) return null;
  // A frame decodes bytes to `Uint8Array`.
  return Buffer.concat(slices.map(({ bytes }) => bytes as Uint8Array));
}
