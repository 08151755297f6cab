/** A request and a response of the S3-compatible API, without HTTP: verbs receive one and return the other. */
import type { Checksums, ChecksumAlgorithm, S3ChecksumAlgorithm } from "../store/core/checksum.ts";

export interface S3Request {
  readonly method: string;
  /** The name in the path or in the host; `null` for a request about all buckets. */
  readonly bucketName: string | null;
  /** Decoded; `null` for a request about a bucket. */
  readonly key: string | null;
  readonly parameters: S3Parameters;
  readonly headers: S3Headers;
  readonly body: S3Body;
  /** Without a signature. Only objects of public buckets are in reach of such a request. */
  readonly isAnonymous: boolean;
  /** The URL of the bucket, as the client has written it, without a slash at the end. */
  readonly bucketUrl: string;
}

export interface S3Headers {
  /** @param name in lower case */
  get(name: string): string | null;
  /** The names and values of the headers whose names begin with `prefix`. */
  withPrefix(prefix: string): (readonly [name: string, value: string])[];
}

/** The parameters of a query. The first of equal names counts. */
export interface S3Parameters {
  get(name: string): string | null;
  has(name: string): boolean;
  readonly names: readonly string[];
}

/**
 * The body of a request: its content, without the chunks in which a client may have sent it.
 *
 * A body can be read once. `chunks()` and `document()` end only after everything has been verified
 * that the body alone shows: its length, its signatures and its SHA-256. `verify()` compares the
 * hashes that the client has announced with those of the content.
 */
export interface S3Body {
  /** `null`: not announced */
  readonly length: number | null;
  /** The algorithm whose checksum the client sends before the body or after it. */
  readonly checksumAlgorithm: S3ChecksumAlgorithm | null;
  chunks(): AsyncIterable<Uint8Array>;
  /** The hashes that `verify()` needs. */
  readonly requiredAlgorithms: readonly ChecksumAlgorithm[];
  /**
   * Called after the last chunk.
   *
   * @throws StoreError 10037 when a hash is another than the client has announced
   */
  verify(checksums: Checksums): void;
  /**
   * The whole body, for the documents of requests.
   *
   * @param checksumOf what `x-amz-checksum-*` belongs to; the header of a completion has the checksum
   *   of the object, and no checksum of the document
   */
  document(checksumOf?: "document" | "object"): Promise<string>;
  /** The form of a browser. Resolves when the content of its file begins. */
  form(): Promise<S3Form>;
}

/** A form (`multipart/form-data`): fields, and then a file. */
export interface S3Form {
  /** By their names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
  /** As the browser has sent it; some send folders as well. */
  readonly fileName: string;
  /** Ends only after the length of the body has been verified. */
  content(): AsyncIterable<Uint8Array>;
  /** Called in any case, also after the content. */
  close(): Promise<void>;
}

export interface S3Response {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A response without a body has none. The length of content is in `content-length`. */
  readonly body?: string | Uint8Array | S3Content;
}

/** Content that is open. A chunk is valid until the next one is requested. */
export interface S3Content {
  chunks(): AsyncIterable<Uint8Array>;
  /** Called in any case, also after the last chunk. */
  close(): void;
}

export const xmlHeaders = { "content-type": "application/xml" } as const;

export function emptyResponse(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): S3Response {
  return { status, headers };
}

export function xmlResponse(
  body: string,
  headers: Readonly<Record<string, string>> = {},
): S3Response {
  return { status: 200, headers: { ...xmlHeaders, ...headers }, body };
}
