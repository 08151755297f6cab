/**
 * The bucket's interface: the operations that a bucket executes, as plain data.
 *
 * Every client of a bucket uses this interface: the binding, Node, the command line. Operations
 * travel over RPC in batches, so requests and results hold only what structured cloning carries.
 */
import type { DiskProblem } from "../../state/disk.ts";
import type { ByteRange, RangeRequest } from "./byte-range.ts";
import type {
  Checksums,
  ChecksumType,
  ExpectedChecksum,
  Hashes,
  S3ChecksumAlgorithm,
} from "./checksum.ts";
import type { Conditional } from "./conditional.ts";
import type { KeyHolder } from "./customer-key.ts";
import type { StoreErrorCode } from "./errors.ts";
import type { CustomMetadata, HttpMetadata } from "./http-metadata.ts";
import type { Method } from "./methods.ts";
import type { AbortRule, CompletedPart, ListedPart, PartReference } from "./multipart.ts";

export type StorageClass = "Standard" | "InfrequentAccess";

/** The properties of an object. */
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

/** An `ObjectRecord` with all metadata. */
export type DescribedObject = ObjectRecord & Required<Pick<ObjectRecord, "http" | "custom">>;

/** An `ObjectRecord` without its key, as text: `[fields, metadata]` (`object-encoding.ts`). */
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
      /** The MD5 of the whole blob; absent where an earlier version stored the object. */
      readonly md5?: string;
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

/** A position in a listing of uploads. */
export interface UploadPosition {
  readonly key: string;
  readonly uploadId?: string;
}

export interface UploadRecord extends UploadReference {
  /** Milliseconds since the epoch */
  readonly created: number;
  readonly storageClass: StorageClass;
  readonly checksumAlgorithm?: S3ChecksumAlgorithm;
  readonly checksumType?: ChecksumType;
}

/** The checksum that an upload is created with: its object gets a checksum of this kind. */
export type UploadChecksum = Pick<UploadRecord, "checksumAlgorithm" | "checksumType">;

/** Settings of a bucket. The bucket stores texts, and follows `abortRules`. */
export interface StoredSettings {
  readonly cors?: string;
  readonly lifecycle?: { readonly text: string; readonly abortRules: readonly AbortRule[] };
}

/** The request and the result of each operation. */
interface Operations {
  head: { request: { key: string }; result: EncodedObject | null };
  get: {
    request: {
      key: string;
      range?: RangeRequest;
      onlyIf?: Conditional;
      /** Reads one part of a multipart upload, counted from 1. Excludes `range`. */
      partNumber?: number;
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
    request: ObjectDescription & UploadChecksum & { key: string };
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
    request: UploadReference & {
      parts: readonly CompletedPart[];
      /** 10031 when the condition does not hold: the upload stays in progress */
      onlyIf?: Conditional;
      /** 200002 when the object has another size */
      objectSize?: number;
      /** Of the whole object, full or composite. */
      checksum?: ExpectedChecksum;
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

/** A question to the store's disk, where a bucket does not answer (`bucket/store-disk.ts`). */
export interface DiskQuestion {
  readonly bucketName: string;
  readonly bytes: number;
}

export type Request<M extends Method> = {
  readonly method: M;
  /** The operation is refused with 10006 after `deleteBucket`. */
  readonly mustExist?: true;
} & Operations[M]["request"];
export type Result<M extends Method> = Operations[M]["result"];
export type Operation = { [M in Method]: Request<M> }[Method];

/** Each operation of a batch succeeds or fails by itself. */
export type Outcome<M extends Method = Method> =
  | { readonly ok: true; readonly value: Result<M> }
  | {
      readonly ok: false;
      readonly code: StoreErrorCode;
      readonly text: string;
      /** Only where it is true. */
      readonly lacksSpace?: boolean;
    };
