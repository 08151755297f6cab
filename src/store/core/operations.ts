/**
 * The bucket's interface: the operations that a bucket executes, as plain data.
 *
 * Every client of a bucket uses this interface: the binding, Node, the command line. Operations
 * travel over RPC in batches, so requests and results hold only what structured cloning carries.
 */
import type { DiskProblem } from "../../state/disk-problem.ts";
import type { ByteRange, RangeRequest } from "./byte-range.ts";
import type {
  Checksums,
  CompletionChecksum,
  ExpectedChecksum,
  Hashes,
  UploadChecksum,
} from "./checksum.ts";
import type { Conditional } from "./conditional.ts";
import type { KeyHolder, CustomMetadata, HttpMetadata } from "./metadata.ts";
import type { StoreErrorCode, Method, ServiceFailure } from "./errors.ts";
import type { ObjectRule } from "./lifecycle.ts";
import type { AbortRule, CompletedPart, ListedPart, PartReference } from "./multipart.ts";
import { inlineBytesMax, keyBytesMax, listPageBytesMax, metadataBytesMax } from "./limits.ts";

export type StorageClass = "Standard" | "InfrequentAccess";

export interface ObjectRecord extends KeyHolder {
  readonly key: string;
  readonly version: string;
  readonly size: number;
  readonly etag: string;
  /** Milliseconds since the epoch */
  readonly uploaded: number;
  /** Of the whole content, as the binding shows them. */
  readonly checksums: Hashes;
  /** The checksums that only the S3-compatible interface shows: CRCs, and composite ones. */
  readonly s3Checksums?: Checksums;
  readonly storageClass: StorageClass;
  /** Absent in a listing whose request excludes HTTP metadata. */
  readonly http?: HttpMetadata;
  /** Absent in a listing whose request excludes custom metadata. */
  readonly custom?: CustomMetadata;
}

export type DescribedObject = ObjectRecord & Required<Pick<ObjectRecord, "http" | "custom">>;

/** An `ObjectRecord` without its key, as text: `[fields, metadata]` (`object.ts`). */
export type EncodedObject = string;

/** The properties that the uploader of an object chooses. */
export interface ObjectDescription extends KeyHolder {
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
      /** The MD5 of the whole blob. */
      readonly md5: string;
    } & ByteRange);

type Retrieved =
  | {
      readonly status: "found";
      readonly object: EncodedObject;
      readonly range: ByteRange;
      readonly content: ContentSlice[];
      /** The number of parts of a multipart upload; only if the request has a part number. */
      readonly partsCount?: number;
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
  /** SQLite writes this text and the caller parses it (`object.ts`). */
  readonly objectsJson: string;
  /** Rolled-up prefixes, each ending in the delimiter. */
  readonly prefixes: string[];
  readonly cursor?: string;
}

export interface UploadReference {
  readonly key: string;
  readonly uploadId: string;
}

export interface UploadPosition {
  readonly key: string;
  readonly uploadId?: string;
}

export interface UploadRecord extends UploadReference, UploadChecksum {
  /** Milliseconds since the epoch */
  readonly created: number;
  readonly storageClass: StorageClass;
}

/** Settings of a bucket. The bucket stores texts, and follows the rules. */
export interface StoredSettings {
  readonly cors?: string;
  readonly lifecycle?: {
    readonly text: string;
    readonly abortRules: readonly AbortRule[];
    /** A setting that an earlier version has stored has none. */
    readonly objectRules?: readonly ObjectRule[];
  };
}

interface Operations {
  head: { request: { key: string }; result: EncodedObject | null };
  get: {
    request: {
      key: string;
      range?: RangeRequest;
      onlyIf?: Conditional;
      /** Reads one part of a multipart upload, counted from 1. Excludes `range`. */
      partNumber?: number;
      /** Compares content in the database with its MD5. The client verifies files. */
      verify?: true;
    };
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
  /**
   * With `onlyIf`, one key: 10031 for an object for which the condition does not hold. A key without
   * an object is no error.
   */
  delete: { request: { keys: string[]; onlyIf?: Conditional }; result: null };
  list: { request: ListRequest; result: ListResult };
  createUpload: {
    request: ObjectDescription &
      UploadChecksum & {
        key: string;
        /** 10031 when the condition does not hold, now or at the completion of the upload */
        onlyIf?: Conditional;
      };
    result: { uploadId: string };
  };
  uploadPart: {
    request: UploadReference &
      KeyHolder & {
        partNumber: number;
        content: Content;
        checksum?: ExpectedChecksum;
      };
    result: PartReference;
  };
  completeUpload: {
    request: UploadReference &
      CompletionChecksum & {
        parts: readonly CompletedPart[];
        /** 10031 when the condition does not hold: the upload stays in progress */
        onlyIf?: Conditional;
        /** 200002 when the object has another size */
        objectSize?: number;
      };
    result: EncodedObject;
  };
  abortUpload: { request: UploadReference; result: null };
  /** Uploads in progress, in order of key and then of age. */
  listUploads: {
    request: {
      prefix: string;
      /** Rolls keys up into prefixes, as in a listing of objects. */
      delimiter?: string;
      /** Without an upload: after all uploads of the key, or with the prefix. */
      after?: UploadPosition;
      limit: number;
    };
    result: {
      uploads: UploadRecord[];
      /** Rolled-up prefixes, each ending in the delimiter. */
      prefixes: string[];
      truncated: boolean;
      /** The `after` of the next page. Absent on the last page. */
      next?: UploadPosition;
    };
  };
  listParts: {
    request: UploadReference & { afterPartNumber: number; limit: number };
    result: { parts: ListedPart[]; truncated: boolean; upload: UploadRecord };
  };
  /**
   * Finds out whether the disk is the reason why a batch failed. `bytes` is the size of what the
   * batch writes, `blobs` are its files: those that no row names are removed.
   */
  checkDisk: {
    request: { bytes: number; blobs: readonly string[] };
    /** What to tell callers; `null` when the disk accepts writes */
    result: { problem: DiskProblem | null };
  };
  getSettings: { request: object; result: StoredSettings };
  /** A setting that the request does not name stays; `null` removes a setting. */
  putSettings: {
    request: { [Name in keyof StoredSettings]?: StoredSettings[Name] | null };
    result: null;
  };
  /**
   * Makes a bucket that was deleted usable again. Only buckets that a request has created are
   * deleted: their operations carry `mustExist`.
   */
  createBucket: { request: object; result: null };
  /** 10008 while the bucket has objects or uploads in progress. */
  deleteBucket: { request: object; result: null };
  /** Counts the objects after a key. A limit keeps the bucket from counting while calls wait. */
  stats: {
    request: { after?: string; limit?: number };
    result: {
      objects: number;
      bytes: number;
      uploads: number;
      /** Where the next step begins; absent when all are counted. */
      next?: string;
    };
  };
}

/** A question to the store's disk, where a bucket does not answer (`bucket/bucket-disk.ts`). */
export interface DiskQuestion {
  readonly bucketName: string;
  readonly bytes: number;
}

export type Request<M extends Method> = {
  readonly method: M;
  /** The operation is refused with 10006 after `deleteBucket`. */
  readonly mustExist?: true;
  /** Only in a test: the layer of isolation in which the call was made (`base/undo-journal.ts`). */
  readonly layer?: number;
} & Operations[M]["request"];
export type Result<M extends Method> = Operations[M]["result"];
export type Operation = { [M in Method]: Request<M> }[Method];

/** Each operation of a batch succeeds or fails by itself. */
export type Outcome<M extends Method = Method> = {
  /** Only in a test, and under conditions: the client applies the fault to the answer. */
  readonly fault?: AnswerFault;
} & (
  | { readonly ok: true; readonly value: Result<M> }
  | {
      readonly ok: false;
      readonly code: StoreErrorCode;
      readonly text: string;
      /** Only where it is true. */
      readonly lacksSpace?: boolean;
      /** Only of a bucket on an S3 service. */
      readonly failure?: ServiceFailure;
      /** Only of 10039. */
      readonly objectSize?: number;
      /** As in `StoreError` */
      readonly reason?: string;
    }
);

/** What the client does with the answer of a call. */
export interface AnswerFault {
  readonly delayMilliseconds?: number;
  /** The connection is lost: before the answer, or after so many bytes of the body of a `get`. */
  readonly lost?: "answer" | { readonly afterBytes: number };
  /** The test of the call has ended and the operation was not executed: the call never returns. */
  readonly late?: true;
}

/** A key and the largest metadata of an object, with room for their JSON. */
const recordBytes = 2 * (keyBytesMax + metadataBytesMax);
/** A key, or a part. */
const entryBytes = 2 * keyBytesMax;

/** The most bytes that an operation carries, in its request or in its result. */
export function bytesCarried(operation: Operation): number {
  if ("content" in operation) {
    return recordBytes + ("bytes" in operation.content ? operation.content.bytes.length : 0);
  }
  if ("keys" in operation) return operation.keys.length * entryBytes;
  if ("parts" in operation) return operation.parts.length * entryBytes;
  const { method } = operation;
  if (method === "get") return recordBytes + inlineBytesMax;
  if (method === "list") return Math.max(operation.limit * entryBytes, 2 * listPageBytesMax);
  const isListing = method === "listUploads" || method === "listParts";
  return isListing ? operation.limit * entryBytes : recordBytes;
}

/** The outcome of an operation that the store cannot execute, for a reason that is not a rule. */
export function refusedOutcome({ text, lacksSpace }: DiskProblem): Outcome {
  return { ok: false, code: 10001, text, ...(lacksSpace && { lacksSpace }) };
}

/** The operations that write, and what they do to the space of the disk. */
const writes: { readonly [M in Method]?: "needs space" | "frees space" } = {
  put: "needs space",
  delete: "frees space",
  createUpload: "needs space",
  uploadPart: "needs space",
  completeUpload: "needs space",
  abortUpload: "frees space",
  putSettings: "needs space",
  createBucket: "needs space",
  deleteBucket: "frees space",
};

export function isRead({ method }: Operation): boolean {
  return writes[method] === undefined;
}

export function areReads(operations: readonly Operation[]): boolean {
  return operations.every(isRead);
}

export function needsSpace({ method }: Operation): boolean {
  return writes[method] === "needs space";
}

/** Whether an operation brings a file: the bucket verifies the file first (`bucket/arriving-files.ts`). */
export function bringsFile(operation: Operation): boolean {
  return "content" in operation && "blob" in operation.content;
}

/** The file that an operation brings: a row may name it after the operation. */
export function blobsOf(operation: Operation): string[] {
  return "content" in operation && "blob" in operation.content ? [operation.content.blob] : [];
}

/** Whether a batch is a question about the disk, which travels by itself. */
export function asksForDisk(
  operations: readonly Operation[],
): operations is readonly [Request<"checkDisk">] {
  return operations[0]?.method === "checkDisk";
}

/** The settings of a binding: from its configuration, and from the script's compatibility settings. */
export interface BucketSettings {
  readonly storageClass: StorageClass;
  /** `true`: `list` follows `include`. `false`: `list` returns all metadata. */
  readonly honorInclude: boolean;
  /** `true`: delimited prefixes keep their delimiter. */
  readonly trailingDelimiter: boolean;
  /** `true`: bad arguments reject. `false`: bad arguments throw. */
  readonly rejectBadArguments: boolean;
  /** Deviation: Node accepts streams of unknown length, because no stream in Node has a known length. */
  readonly allowUnsizedStreams: boolean;
}

/** The tables of a bucket that a restored backup replaces (`bucket/restoration.ts`). */
export const restoredTables = [
  "objects",
  "bodies",
  "blobs",
  "uploads",
  "parts",
  "settings",
] as const;

export type RestoredValue = string | number | Uint8Array | null;

/** A step of the restoration of a bucket. All steps have the id of the restoration. */
export type RestorationStep =
  | { readonly id: string; readonly step: "begin" }
  | { readonly id: string; readonly step: "commit" }
  | {
      readonly id: string;
      readonly step: "rows";
      readonly table: (typeof restoredTables)[number];
      /** In the order of the table's columns. */
      readonly rows: readonly (readonly RestoredValue[])[];
    };
