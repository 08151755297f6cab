/**
 * The interface of object storage for scripts.
 *
 * The classes of the binding implement these declarations, and `ledge/types` makes them global.
 * They use only types that both `@cloudflare/workers-types` and the DOM library declare.
 */

/** A bucket, bound to a script as `env.<binding>` by `[[store_buckets]]`. */
export interface StoreBucket {
  /** The metadata of the object, or `null` when `key` has no object. */
  head(key: string): Promise<StoreObject | null>;

  /**
   * The object with its body, or `null` when `key` has no object.
   *
   * When `onlyIf` is given and does not hold, the result is a {@link StoreObject}, whose `body` is
   * undefined. Test `"body" in object` or `object.body` to distinguish the two.
   */
  get(
    key: string,
    options: StoreGetOptions & { onlyIf: StoreConditional | Headers },
  ): Promise<StoreObjectBody | StoreObject | null>;
  get(key: string, options?: StoreGetOptions): Promise<StoreObjectBody | null>;

  /**
   * Stores `value` under `key`, and replaces an object with this key. Once the promise resolves,
   * every reader sees the new object.
   *
   * When `onlyIf` is given and does not hold, nothing is stored and the result is `null`.
   * The check and the write are one atomic step.
   */
  put(
    key: string,
    value: StoreValue | null,
    options: StorePutOptions & { onlyIf: StoreConditional | Headers },
  ): Promise<StoreObject | null>;
  put(key: string, value: StoreValue | null, options?: StorePutOptions): Promise<StoreObject>;

  /** Deletes one object, or up to 1000 objects. Keys without an object are ignored. */
  delete(keys: string | string[]): Promise<void>;

  /** One page of the bucket's objects, ordered by key (UTF-8 byte order). */
  list(options?: StoreListOptions): Promise<StoreObjects>;

  /** Starts a multipart upload. It must be completed within 7 days. */
  createMultipartUpload(
    key: string,
    options?: StoreMultipartOptions,
  ): Promise<StoreMultipartUpload>;

  /**
   * A handle of an upload that was created earlier. The call checks nothing: with an unknown
   * `uploadId`, the methods of the handle fail.
   */
  resumeMultipartUpload(key: string, uploadId: string): StoreMultipartUpload;
}

/**
 * A value to store. A stream must have a known length: the body of a request or response with a
 * known length, or the readable half of a `FixedLengthStream`.
 */
export type StoreValue = ReadableStream | ArrayBuffer | ArrayBufferView | string | Blob;

/** An object's metadata. */
export interface StoreObject {
  /** The key of the object. */
  readonly key: string;
  /** A random value, unique to this upload. */
  readonly version: string;
  /** Size in bytes. */
  readonly size: number;
  /** The entity tag, without quotes. */
  readonly etag: string;
  /** The entity tag in quotes, as HTTP headers carry it. */
  readonly httpEtag: string;
  /** The time of the upload. */
  readonly uploaded: Date;
  /** Absent on a listed object unless `include` names it. */
  readonly httpMetadata?: StoreHTTPMetadata;
  /** Absent on a listed object unless `include` names it. */
  readonly customMetadata?: Record<string, string>;
  /** The range of the content that the result contains. */
  readonly range?: { offset: number; length: number };
  /** The known hashes of the content. */
  readonly checksums: StoreChecksums;
  readonly storageClass: StoreStorageClass;
  /**
   * Sets the headers of {@link httpMetadata} on `headers`.
   *
   * @throws TypeError on a listed object whose `httpMetadata` was not included.
   */
  writeHttpMetadata(headers: Headers): void;
}

/** An object's metadata with its content, which can be read once. */
export interface StoreObjectBody extends StoreObject {
  readonly body: ReadableStream;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json<T = unknown>(): Promise<T>;
  /** A blob whose `type` is the object's content type. */
  blob(): Promise<Blob>;
}

/** The storage class of an object. Default: the storage class of the bucket. */
export type StoreStorageClass = "Standard" | "InfrequentAccess";

/** HTTP headers that are stored with an object. */
export interface StoreHTTPMetadata {
  contentType?: string;
  contentLanguage?: string;
  contentDisposition?: string;
  contentEncoding?: string;
  cacheControl?: string;
  /** The `Expires` header. */
  cacheExpiry?: Date;
}

/** Hashes of the content. `md5` is present by default, except for multipart objects. */
export interface StoreChecksums {
  readonly md5?: ArrayBuffer;
  readonly sha1?: ArrayBuffer;
  readonly sha256?: ArrayBuffer;
  readonly sha384?: ArrayBuffer;
  readonly sha512?: ArrayBuffer;
  /** The same hashes in hexadecimal. */
  toJSON(): StoreStringChecksums;
}

/** {@link StoreChecksums} in hexadecimal. */
export interface StoreStringChecksums {
  md5?: string;
  sha1?: string;
  sha256?: string;
  sha384?: string;
  sha512?: string;
}

/**
 * Which bytes to return. A range longer than the object returns fewer bytes. A range that begins
 * after the end of the object is an error.
 */
export type StoreRange =
  | { offset: number; length?: number }
  | { offset?: number; length: number }
  | { suffix: number };

/**
 * Conditions that must all hold. Entity tags are without quotes; `*` matches any tag. A
 * `Headers` object with `If-Match`, `If-None-Match`, `If-Modified-Since` or
 * `If-Unmodified-Since` (RFC 7232) may be given instead.
 */
export interface StoreConditional {
  etagMatches?: string;
  etagDoesNotMatch?: string;
  uploadedBefore?: Date;
  uploadedAfter?: Date;
  /** Compare dates by the second, as HTTP headers do. */
  secondsGranularity?: boolean;
}

export interface StoreGetOptions {
  onlyIf?: StoreConditional | Headers;
  /** The bytes to return, or a `Headers` object with `Range`. */
  range?: StoreRange | Headers;
  /**
   * Replaces fields of the metadata in the result. The stored metadata does not change.
   *
   * Deviation: the deployed binding has no such option.
   */
  httpMetadata?: StoreHTTPMetadata | Headers;
}

/** At most one of the five hashes may be given. The upload fails unless the content has this hash. */
export interface StorePutOptions extends StoreMultipartOptions {
  onlyIf?: StoreConditional | Headers;
  md5?: ArrayBuffer | ArrayBufferView | string;
  sha1?: ArrayBuffer | ArrayBufferView | string;
  sha256?: ArrayBuffer | ArrayBufferView | string;
  sha384?: ArrayBuffer | ArrayBufferView | string;
  sha512?: ArrayBuffer | ArrayBufferView | string;
}

export interface StoreMultipartOptions {
  httpMetadata?: StoreHTTPMetadata | Headers;
  customMetadata?: Record<string, string>;
  storageClass?: StoreStorageClass;
}

export interface StoreListOptions {
  /** At most this many objects and prefixes: 1 to 1000, 1000 by default. */
  limit?: number;
  /** Only keys that begin with this prefix. */
  prefix?: string;
  /** The cursor of the previous page. */
  cursor?: string;
  /** Keys that contain the delimiter after the prefix are rolled up into `delimitedPrefixes`. */
  delimiter?: string;
  /** Only keys after this one. */
  startAfter?: string;
  /** The metadata of the listed objects. */
  include?: ("httpMetadata" | "customMetadata")[];
}

/** One page of a listing. A page may hold fewer than `limit` objects: `truncated` says whether more follow. */
export type StoreObjects = {
  objects: StoreObject[];
  delimitedPrefixes: string[];
} & ({ truncated: true; cursor: string } | { truncated: false });

/** An upload in parts: in progress until completed, aborted, or 7 days old. */
export interface StoreMultipartUpload {
  readonly key: string;
  readonly uploadId: string;
  /**
   * Uploads a part. All parts but the last have the same size, 5 MiB or more; the last part may be
   * smaller. A second upload of a part number replaces the part.
   */
  uploadPart(partNumber: number, value: StoreValue): Promise<StoreUploadedPart>;
  /** Ends the upload and discards its parts. */
  abort(): Promise<void>;
  /** Creates the object from the given parts, in the order of their numbers. */
  complete(parts: StoreUploadedPart[]): Promise<StoreObject>;
}

export interface StoreUploadedPart {
  partNumber: number;
  etag: string;
}

/**
 * The fields of an error of a bucket with `remote`: of a call, and of a stream that breaks off. Errors of wrong
 * arguments, and of other buckets, have none of them.
 */
export interface StoreServiceError extends Error {
  /** `unknown`: a write may have been executed. Read the object to find out. Of a read always `not executed`. */
  readonly outcome: "not executed" | "unknown";
  /**
   * - `throttled`: the service asks for fewer requests; `retryAfterSeconds` may say how long.
   * - `denied`: wrong or expired keys, or missing rights.
   * - `unreachable`: there is no connection to the service.
   * - `timeout`: an answer, content, or a free connection did not come in time.
   * - `unavailable`: the service failed, or the connection was lost.
   * - `conflict`: other writers were faster each time, or have replaced what was written.
   * - `space`: a quota, the storage of the service, or the spool is full.
   * - `unsupported`: the service does not have what the call needs.
   * - `refused`: the call or the configuration is wrong; the message says what.
   */
  readonly reason:
    | "throttled"
    | "denied"
    | "unreachable"
    | "timeout"
    | "unavailable"
    | "conflict"
    | "space"
    | "unsupported"
    | "refused";
  /** Of HTTP, of the answer. */
  readonly status?: number;
  /** Of the answer: `SlowDown`. */
  readonly serviceCode?: string;
  /** By which the operator of the service finds the request. */
  readonly requestId?: string;
  /** What the service has asked for. */
  readonly retryAfterSeconds?: number;
}
