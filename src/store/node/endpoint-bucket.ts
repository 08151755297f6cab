/** A bucket, as commands use it: operations, and content of any size from files and into them. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { UserError } from "../../base/user-error.ts";
import { readFramedAnswer } from "./framed-answer.ts";
import { requiredAlgorithms, type Checksums, type ExpectedChecksum } from "../core/checksum.ts";
import { inlineBytesMax, listLimitMax, uploadBytesMax } from "../core/limits.ts";
import { decodeObject, decodeObjects } from "../core/object-encoding.ts";
import type { PartReference } from "../core/multipart.ts";
import type {
  ContentSlice,
  Method,
  ObjectDescription,
  ObjectRecord,
  Request,
  Result,
} from "../core/operations.ts";
import { requestHeader, type CopyRequest } from "../endpoint/protocol.ts";
import { encodeFrame } from "../client/frame.ts";
import {
  EndpointClosedError,
  RefusedError,
  type EndpointClient,
  type EndpointRequest,
} from "./endpoint-client.ts";
import type { LocalContent } from "./local-content.ts";
import { OperationQueue } from "./operation-queue.ts";
import type { StoreSession } from "./store-session.ts";

export interface ListPage {
  readonly objects: readonly Required<ObjectRecord>[];
  readonly prefixes: readonly string[];
}

/** An object and its content: whole, or as a stream that has to be read. */
export interface FetchedObject {
  readonly object: Required<ObjectRecord>;
  readonly content: Uint8Array | Readable;
}

export type Stored = ObjectDescription & {
  readonly key: string;
  readonly checksum?: ExpectedChecksum;
};

/** Content of this size takes several parts; each but the last is as long as this. */
export const partBytes = 1024 ** 3;

export class RemoteBucket {
  readonly name: string;
  readonly #session: StoreSession;
  readonly #queue: OperationQueue;

  constructor(session: StoreSession, name: string) {
    this.name = name;
    this.#session = session;
    this.#queue = new OperationQueue(session, name);
  }

  call<M extends Method>(request: Request<M>): Promise<Result<M>> {
    return this.#queue.call(request);
  }

  async head(key: string): Promise<Required<ObjectRecord> | null> {
    const text = await this.call({ method: "head", key });
    return text === null ? null : decodeObject(key, text);
  }

  /** All objects by key, a page at a time. */
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
      yield {
        objects: decodeObjects(page.objectsJson, {
          http: true,
          custom: true,
        }) as Required<ObjectRecord>[],
        prefixes: page.prefixes,
      };
    } while (cursor !== undefined);
  }

  /** Stores content; `expected` is what it must hash to, and the object will say so. */
  async put(
    { checksum, ...stored }: Stored,
    content: LocalContent,
    options: { partBytes?: number; uploadBytesMax?: number } = {},
  ): Promise<ObjectRecord> {
    const described = { ...stored, ...(checksum !== undefined && { checksum }) };
    if (content.size <= inlineBytesMax) {
      const bytes = content.bytes();
      const checksums: Checksums = Object.fromEntries(
        requiredAlgorithms(checksum).map((algorithm) => [
          algorithm,
          createHash(algorithm).update(bytes).digest("hex"),
        ]),
      );
      // Without a condition there is always an object.
      const text = (await this.call({
        method: "put",
        ...described,
        content: { bytes, checksums },
      })) as string;
      return decodeObject(stored.key, text);
    }
    if (content.size <= (options.uploadBytesMax ?? uploadBytesMax)) {
      return this.#send("put", described, content, 0, content.size);
    }
    return this.#putParts(stored, content, options.partBytes ?? partBytes);
  }

  /**
   * Hands an object and its content to `receive`, more than once if the runtime goes away
   * meanwhile. `null` when there is no such object.
   *
   * @param size of the object, as far as is known
   */
  async get<Received>(
    key: string,
    size: number,
    receive: (fetched: FetchedObject) => Promise<Received>,
  ): Promise<Received | null> {
    if (size <= inlineBytesMax) {
      const found = await this.call({ method: "get", key });
      if (found === null || found.status !== "found") return null;
      const content = joined(found.content);
      if (content !== null) {
        return receive({ object: decodeObject(key, found.object), content });
      }
    }
    const body = await framed({ key });
    return this.#ask(async (endpoint) => {
      const response = await endpoint.ask(`/get/${this.name}`, { body });
      let lost: Error | undefined;
      response.once("error", (error) => (lost = error));
      try {
        const answer = await readFramedAnswer<{ object: Required<ObjectRecord> } | null>(
          Readable.toWeb(response) as ReadableStream,
        );
        if (answer.head === null) return null;
        const { object } = answer.head;
        const stream = answer.body(key, object.size);
        return await receive({ object, content: Readable.fromWeb(stream as never) });
      } catch (error) {
        throw lost === undefined ? error : new EndpointClosedError(lost.message);
      } finally {
        response.destroy();
      }
    });
  }

  /** Copies an object into this bucket; `null` when it is not there. */
  async copy(request: CopyRequest): Promise<ObjectRecord | null> {
    const body = await framed(request);
    return this.#ask((endpoint) => endpoint.askJson(`/copy/${this.name}`, { body }));
  }

  collectGarbage(): Promise<number> {
    return this.#ask((endpoint) => endpoint.askJson(`/collect/${this.name}`));
  }

  /** The name of the file that is the bucket's database, without its ending. */
  async databaseName(): Promise<string> {
    const name = await this.#ask((endpoint) =>
      endpoint.askBytes(`/database/${this.name}`, { method: "GET" }),
    );
    return name.toString("utf8");
  }

  /** Larger than one upload may be. It ends as one object, or leaves nothing. */
  async #putParts(stored: Stored, content: LocalContent, partSize: number): Promise<ObjectRecord> {
    const { key } = stored;
    const { uploadId } = await this.call({ method: "createUpload", ...stored });
    try {
      const parts: PartReference[] = [];
      for (let start = 0; start < content.size; start += partSize) {
        const part = { key, uploadId, partNumber: parts.length + 1 };
        const length = Math.min(partSize, content.size - start);
        parts.push(await this.#send<PartReference>("part", part, content, start, length));
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
    content: LocalContent,
    start: number,
    length: number,
  ): Promise<Value> {
    const header = Buffer.from(JSON.stringify(description)).toString("base64");
    return this.#ask((endpoint) => {
      const request: EndpointRequest = {
        headers: { [requestHeader]: header },
        content: { stream: content.stream(start, length), length },
      };
      return endpoint.askJson(`/${action}/${this.name}`, request);
    });
  }

  async #ask<Value>(work: (endpoint: EndpointClient) => Promise<Value>): Promise<Value> {
    try {
      return await this.#session.run(work);
    } catch (error) {
      throw error instanceof RefusedError ? new UserError(error.message) : error;
    }
  }
}

async function framed(value: object): Promise<Uint8Array> {
  return new Uint8Array(await encodeFrame(value).arrayBuffer());
}

/** The bytes of content that is here already; `null` when some of it is in files. */
function joined(content: readonly ContentSlice[]): Uint8Array | null {
  const slices: Uint8Array[] = [];
  for (const slice of content) {
    if (!("bytes" in slice)) return null;
    slices.push(new Uint8Array(slice.bytes));
  }
  return slices.length === 1 ? (slices[0] as Uint8Array) : Buffer.concat(slices);
}
