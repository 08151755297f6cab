/**
 * The bucket's own interface: the operations it executes, as plain data.
 *
 * Every face of the store (the binding, and whatever else will serve buckets) speaks this. It
 * travels over RPC in batches, so requests and results hold only what structured cloning carries.
 */
import type { ByteRange, RangeRequest } from "./byte-range.ts";
import type { Checksums, ExpectedChecksum } from "./checksum.ts";
import type { Conditional } from "./conditional.ts";
import type { StoreErrorCode } from "./errors.ts";
import type { CustomMetadata, HttpMetadata } from "./http-metadata.ts";
import type { PartReference, StoredPart } from "./multipart.ts";
import type { EncodedObject } from "./object-encoding.ts";

export type StorageClass = "Standard" | "InfrequentAccess";

/** What the bucket knows of an object. */
export interface ObjectRecord {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since the epoch */
  readonly uploaded: number;
  readonly checksums: Checksums;
  readonly storageClass: StorageClass;
  /** Absent in a listing that did not ask for it. */
  readonly http?: HttpMetadata;
  /** Absent in a listing that did not ask for it. */
  readonly custom?: CustomMetadata;
}

/** What an uploader says about an object. */
export interface ObjectDescription {
  readonly http: HttpMetadata;
  readonly custom: CustomMetadata;
  readonly storageClass: StorageClass;
}

/** Content to store: bytes to keep in the database, or a blob that is on disk already. */
export type Content = { readonly checksums: Checksums } & (
  | { readonly bytes: Uint8Array }
  | { readonly blob: string; readonly size: number }
);

/** Content to read, in order. A blob's bytes are read from disk by whoever asked. */
export type ContentSlice =
  | { readonly bytes: ArrayBuffer | Uint8Array }
  | ({ readonly blob: string; readonly blobSize: number } & ByteRange);

type Retrieved =
  | {
      readonly status: "found";
      readonly object: EncodedObject;
      readonly range: ByteRange;
      readonly content: ContentSlice[];
    }
  | { readonly status: "condition failed"; readonly object: EncodedObject };

export interface ListRequest {
  readonly prefix: string;
  readonly delimiter: string;
  readonly startAfter?: string;
  readonly cursor?: string;
  readonly limit: number;
  readonly includeHttp: boolean;
  readonly includeCustom: boolean;
}

interface ListResult {
  /** Written by SQLite, parsed by the caller (`object-text.ts`), with nothing between. */
  readonly objectsJson: string;
  /** Rolled-up prefixes, each ending in the delimiter. */
  readonly prefixes: string[];
  readonly cursor?: string;
}

export interface UploadReference {
  readonly key: string;
  readonly uploadId: string;
}

export interface UploadRecord extends UploadReference {
  /** Milliseconds since the epoch */
  readonly created: number;
  readonly storageClass: StorageClass;
}

/** Each operation's request and result. */
interface Operations {
  head: { request: { key: string }; result: EncodedObject | null };
  get: {
    request: { key: string; range?: RangeRequest; onlyIf?: Conditional };
    result: Retrieved | null;
  };
  put: {
    request: ObjectDescription & {
      key: string;
      content: Content;
      onlyIf?: Conditional;
      checksum?: ExpectedChecksum;
    };
    /** `null`: the condition did not hold */
    result: EncodedObject | null;
  };
  delete: { request: { keys: string[] }; result: null };
  list: { request: ListRequest; result: ListResult };
  createUpload: { request: ObjectDescription & { key: string }; result: { uploadId: string } };
  uploadPart: {
    request: UploadReference & { partNumber: number; content: Content };
    result: PartReference;
  };
  completeUpload: {
    request: UploadReference & { parts: readonly PartReference[] };
    result: EncodedObject;
  };
  abortUpload: { request: UploadReference; result: null };
  /** Uploads in progress, by key and then by age. */
  listUploads: {
    request: { prefix: string; after?: UploadReference; limit: number };
    result: { uploads: UploadRecord[]; truncated: boolean };
  };
  listParts: {
    request: UploadReference & { afterPartNumber: number; limit: number };
    result: { parts: StoredPart[]; truncated: boolean };
  };
  stats: {
    request: object;
    result: { objects: number; bytes: number; uploads: number };
  };
}

export type Method = keyof Operations;

/** What callers of the binding call them. */
export const methodNames = {
  head: "head",
  get: "get",
  put: "put",
  delete: "delete",
  list: "list",
  createUpload: "createMultipartUpload",
  uploadPart: "uploadPart",
  completeUpload: "completeMultipartUpload",
  abortUpload: "abortMultipartUpload",
  listUploads: "listMultipartUploads",
  listParts: "listParts",
  stats: "stats",
} as const satisfies Record<Method, string>;

export type Request<M extends Method> = { readonly method: M } & Operations[M]["request"];
export type Result<M extends Method> = Operations[M]["result"];
export type Operation = { [M in Method]: Request<M> }[Method] & {
  /** In a test: the layer of isolation in which the call was made (`base/workerd/undo-journal.ts`). */
  readonly layer?: number;
};

/** An operation of a batch fails alone. */
export type Outcome<M extends Method = Method> = (
  | { readonly ok: true; readonly value: Result<M> }
  | { readonly ok: false; readonly code: StoreErrorCode; readonly text: string }
) & {
  /** Only in a test: what is to happen to the answer on its way to the caller. */
  readonly answerFault?: AnswerFault;
};

export interface AnswerFault {
  readonly delayMilliseconds?: number;
  /** The connection breaks: before there is an answer, or so far into the body of a `get`. */
  readonly lost?: "answer" | { readonly afterBytes: number };
  /** The test that made the call has ended, and nothing was done: nobody is to hear of it again. */
  readonly late?: true;
}
