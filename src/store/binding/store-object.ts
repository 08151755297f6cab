/** The classes of objects that scripts see. */
import { decodeHex } from "../../base/hex.ts";
import { hashAlgorithms, type HashAlgorithm, type Hashes } from "../core/checksum.ts";
import {
  httpMetadataFields,
  httpMetadataHeaders,
  validateHeaderValue,
  type HttpMetadata,
} from "../core/metadata.ts";
import type { ByteRange } from "../core/byte-range.ts";
import type { ObjectRecord } from "../core/operations.ts";
import type * as types from "../../types/store.ts";
import { argumentError, isHeaders, requireOwner } from "./arguments.ts";

/**
 * Deviation: a script can assign to the fields. Fields that are not writable would make a list take
 * twice as long.
 *
 * Deviation: `structuredClone()` copies the fields. A class of JavaScript cannot refuse to be copied.
 */
export class StoreObject implements types.StoreObject {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  readonly httpEtag: string;
  readonly uploaded: Date;
  declare readonly httpMetadata?: types.StoreHTTPMetadata;
  declare readonly customMetadata?: Record<string, string>;
  declare readonly range?: { offset: number; length: number };
  readonly checksums: types.StoreChecksums;
  readonly storageClass: types.StoreStorageClass;
  /** As stored: a script may have changed `httpMetadata`. */
  readonly #http: HttpMetadata | undefined;

  constructor(record: ObjectRecord, range?: ByteRange, checksums?: types.StoreChecksums) {
    this.key = record.key;
    this.version = record.version;
    this.size = record.size;
    this.etag = record.etag;
    this.httpEtag = `"${record.etag}"`;
    this.uploaded = new Date(record.uploaded);
    if (record.http !== undefined) this.httpMetadata = presentHttpMetadata(record.http);
    if (record.custom !== undefined) this.customMetadata = { ...record.custom };
    if (range !== undefined) this.range = { offset: range.offset, length: range.length };
    this.checksums = checksums ?? new StoreChecksums(record.checksums);
    this.storageClass = record.storageClass;
    this.#http = record.http;
  }

  writeHttpMetadata(headers: Headers): void {
    requireOwner(this instanceof StoreObject);
    if (!isHeaders(headers)) {
      throw argumentError("StoreObject.writeHttpMetadata", 1, "Headers");
    }
    const metadata = this.#http;
    if (metadata === undefined) {
      throw new TypeError(
        `HTTP metadata unknown for key \`${this.key}\`. ` +
          `Did you forget to add 'httpMetadata' to \`include\` when listing?`,
      );
    }
    for (const field of httpMetadataFields) {
      const value = metadata[field];
      if (value === undefined) continue;
      validateHeaderValue(field, value);
      headers.set(httpMetadataHeaders[field], value);
    }
    if (metadata.cacheExpiry !== undefined) {
      headers.set("expires", new Date(metadata.cacheExpiry).toUTCString());
    }
  }
}

export class StoreObjectBody extends StoreObject implements types.StoreObjectBody {
  readonly #body: Body;

  constructor(record: ObjectRecord, range: ByteRange, content: ReadableStream | ArrayBuffer) {
    super(record, range);
    this.#body = content instanceof ArrayBuffer ? new BytesBody(content) : new Response(content);
  }

  get body(): ReadableStream {
    return this.#body.body as ReadableStream;
  }

  get bodyUsed(): boolean {
    return this.#body.bodyUsed;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#body.arrayBuffer();
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.#body.arrayBuffer());
  }

  text(): Promise<string> {
    return this.#body.text();
  }

  async json<T = unknown>(): Promise<T> {
    return JSON.parse(await this.#body.text()) as T;
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.arrayBuffer()], { type: this.httpMetadata?.contentType ?? "" });
  }
}

const algorithms = Object.keys(hashAlgorithms) as HashAlgorithm[];

/**
 * The hashes of an object in a listing. Few scripts read them, so each buffer is made when it is read:
 * a buffer for each object would be a fifth of the cost of many `head()` at once.
 *
 * Deviation: to spread these hashes gives none. Own properties take 0.4 µs an object, and a list has a thousand.
 */
export class ListedChecksums implements types.StoreChecksums {
  declare readonly md5?: ArrayBuffer;
  readonly #hex: Hashes;
  #buffers: Partial<Record<HashAlgorithm, ArrayBuffer>> | undefined;

  static {
    for (const algorithm of algorithms) {
      Object.defineProperty(this.prototype, algorithm, accessorOf(algorithm, false));
    }
  }

  constructor(hex: Hashes) {
    this.#hex = hex;
  }

  toJSON(): types.StoreStringChecksums {
    return { ...this.#hex };
  }

  /** A log shows the hashes, and not accessors. */
  [Symbol.for("nodejs.util.inspect.custom")](): object {
    const known = Object.keys(this.#hex) as HashAlgorithm[];
    return Object.fromEntries(known.map((each) => [each, ListedChecksums.read(this, each)]));
  }

  static read(checksums: ListedChecksums, algorithm: HashAlgorithm): ArrayBuffer | undefined {
    const hex = checksums.#hex[algorithm];
    if (hex === undefined) return undefined;
    const buffers = (checksums.#buffers ??= {});
    return (buffers[algorithm] ??= decodeHex(hex)!.buffer);
  }
}

function accessorOf(algorithm: HashAlgorithm, enumerable: boolean): PropertyDescriptor {
  return {
    get(this: ListedChecksums) {
      return ListedChecksums.read(this, algorithm);
    },
    enumerable,
  };
}

/** One accessor for all objects: accessors of each object would take longer than the buffers. */
const ownProperties = Object.fromEntries(
  algorithms.map((algorithm) => [algorithm, accessorOf(algorithm, true)]),
) as Record<HashAlgorithm, PropertyDescriptor>;

/** With own properties: a script can spread and log them. */
class StoreChecksums extends ListedChecksums {
  constructor(hex: Hashes) {
    super(hex);
    for (const algorithm of Object.keys(hex) as HashAlgorithm[]) {
      Object.defineProperty(this, algorithm, ownProperties[algorithm]);
    }
  }
}

function presentHttpMetadata({ cacheExpiry, ...fields }: HttpMetadata): types.StoreHTTPMetadata {
  return {
    ...fields,
    ...(cacheExpiry !== undefined && { cacheExpiry: new Date(cacheExpiry) }),
  };
}

/** The part of `Response` that reads the content of an object, once. */
type Body = Pick<Response, "body" | "bodyUsed" | "arrayBuffer" | "text">;

const decoder = new TextDecoder();

/**
 * A body whose bytes are in memory. Most scripts read the whole body, and returning the bytes takes
 * a fraction of the time of a stream. A stream is made only when the script asks for `body`.
 */
class BytesBody implements Body {
  #bytes: ArrayBuffer;
  #used = false;
  #response: Response | undefined;

  constructor(bytes: ArrayBuffer) {
    this.#bytes = bytes;
  }

  get body(): ReadableStream | null {
    if (this.#response === undefined) {
      this.#response = new Response(this.#bytes);
      // The bytes have been read, so the stream has to be disturbed.
      if (this.#used) void this.#response.arrayBuffer();
    }
    return this.#response.body;
  }

  get bodyUsed(): boolean {
    return this.#used || (this.#response?.bodyUsed ?? false);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#response === undefined ? this.#use() : this.#response.arrayBuffer();
  }

  async text(): Promise<string> {
    return this.#response === undefined ? decoder.decode(this.#use()) : this.#response.text();
  }

  #use(): ArrayBuffer {
    if (this.#used) {
      throw new TypeError(
        "Body has already been used. It can only be used once. " +
          "Use tee() first if you need to read it twice.",
      );
    }
    this.#used = true;
    return this.#bytes;
  }
}
