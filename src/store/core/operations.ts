/**
 * The bucket's interface: the operations that a bucket executes, as plain data.
 *
 * Every client of a bucket uses this interface: the binding, Node, the command line. Operations
 * travel over RPC in batches, so requests and results hold only what structured cloning carries.
 */
import type { ByteRange, RangeRequest } from "./byte-range.ts";
import type { Checksums, ExpectedChecksum } from "./checksum.ts";
import type { Conditional } from "./conditional.ts";
import type { StoreErrorCode } from "./errors.ts";
import type { CustomMetadata, HttpMetadata } from "./http-metadata.ts";
import type { Method } from "./methods.ts";
import type { PartReference, StoredPart } from "./multipart.ts";

export type StorageClass = "Standard" | "InfrequentAccess";

/** The properties of an object. */
export interface ObjectRecord {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since the epoch */
  readonly uploaded: number;
  readonly checksums: Checksums;
  readonly storageClass: StorageClass;
  /** Absent in a listing whose request excludes HTTP metadata. */
  readonly http?: HttpMetadata;
  /** Absent in a listing whose request excludes custom metadata. */
  readonly custom?: CustomMetadata;
}

/** An `ObjectRecord` without its key, as text: `[fields, metadata]` (`object-encoding.ts`). */
export type EncodedObject = string;

/** The properties that the uploader of an object chooses. */
export interface ObjectDescription {
  readonly http: HttpMetadata;
  readonly custom: CustomMetadata;
  readonly storageClass: StorageClass;
}

/** Content to store: bytes for the database, or the name of a blob that is on disk already. */
export type Content = { readonly checksums: Checksums } & (
  | { readonly bytes: Uint8Array }
  | { readonly blob: string; readonly size: number }
);

/** A slice of content to read. The client reads the bytes of a blob from disk. */
export type ContentSlice =
  | { readonly bytes: ArrayBuffer | Uint8Array }
  | ({
      readonly blob: string;
      readonly blobSize: number;
      /** The MD5 of the whole blob; absent where an earlier version stored the object. */
      readonly md5?: string;
    } & ByteRange);

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
  /** SQLite writes this text and the caller parses it (`object-encoding.ts`). */
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

/** The request and the result of each operation. */
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
    /** `null`: the condition does not hold, and nothing is stored */
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
  /** Uploads in progress, in order of key and then of age. */
  listUploads: {
    request: { prefix: string; after?: UploadReference; limit: number };
    result: { uploads: UploadRecord[]; truncated: boolean };
  };
  listParts: {
    request: UploadReference & { afterPartNumber: number; limit: number };
    result: { parts: StoredPart[]; truncated: boolean };
  };
  /**
   * Finds out whether the disk is the reason why a batch failed. `bytes` is the size of what the
   * batch writes, `blobs` are its files: those that no row names are removed.
   */
  checkDisk: {
    request: { bytes: number; blobs: readonly string[] };
    /** What to tell callers; `null` when the disk accepts writes */
    result: { problem: string | null };
  };
  stats: { request: object; result: { objects: number; bytes: number; uploads: number } };
}

/** A question to the store's disk, where a bucket does not answer (`bucket/store-disk.ts`). */
export interface DiskQuestion {
  readonly bucketName: string;
  readonly bytes: number;
}

export type Request<M extends Method> = { readonly method: M } & Operations[M]["request"];
export type Result<M extends Method> = Operations[M]["result"];
export type Operation = { [M in Method]: Request<M> }[Method];

/** Each operation of a batch succeeds or fails by itself. */
export type Outcome<M extends Method = Method> =
  | { readonly ok: true; readonly value: Result<M> }
  | { readonly ok: false; readonly code: StoreErrorCode; readonly text: string };
