/**
 * What the verbs need of the store. Operations are plain data (`store/core/operations.ts`); content
 * is read and written beside them.
 */
import type { ByteRange } from "../store/core/byte-range.ts";
import type { ChecksumAlgorithm, Checksums } from "../store/core/checksum.ts";
import type { Method } from "../store/core/errors.ts";
import type { Content, DescribedObject, Request, Result } from "../store/core/operations.ts";
import type { CorsRule } from "./cors-rules.ts";
import type { S3Content } from "./s3-request.ts";

export interface S3Bucket {
  /** Whether requests without a signature may read objects. */
  readonly isPublic: boolean;
  /** The rules of the configuration. They count until a request puts rules. */
  readonly configuredCors: readonly CorsRule[];
  /** @throws StoreError */
  call<M extends Exclude<Method, "get">>(request: Request<M>): Promise<Result<M>>;
  /** Reads an object. All files of the content are open when the promise resolves. */
  get(request: Omit<Request<"get">, "method">): Promise<OpenedObject | null>;
  /**
   * Writes content that an operation is to store. Nothing is left behind when the body or `verify`
   * throws, nor when the operation is refused.
   */
  write(body: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<Content>;
  /** `write`, with the content of an object that is open. The source stays open. */
  copy(source: CopiedObject, algorithms: readonly ChecksumAlgorithm[]): Promise<Content>;
}

export interface CopiedObject {
  readonly bucket: S3Bucket;
  readonly opened: FoundObject;
}

interface WriteOptions {
  readonly algorithms: readonly ChecksumAlgorithm[];
  /** Called with the checksums of the content before it is used. */
  verify?(checksums: Checksums): void;
}

export interface FoundObject {
  readonly status: "found";
  readonly object: DescribedObject;
  readonly range: ByteRange;
  /** As in the operation. */
  readonly partsCount?: number;
  /** Small content, or content that is open. */
  readonly content: Uint8Array | S3Content;
}

export type OpenedObject =
  | FoundObject
  | { readonly status: "condition failed"; readonly object: DescribedObject };

/** The buckets of a store. */
export interface S3Buckets {
  list(): Promise<readonly BucketRecord[]>;
  /** @returns `null` when the bucket does not exist */
  find(name: string): Promise<S3Bucket | null>;
  /** Does nothing when the bucket exists. */
  create(name: string): Promise<void>;
  delete(name: string): Promise<void>;
}

export interface BucketRecord {
  readonly name: string;
  /** Milliseconds since the epoch */
  readonly created: number;
}
