/**
 * A bucket in Node: of the command line, of the S3-compatible API, of the explorer and of
 * `getPlatformProxy()`. A refusal is a `StoreError` with its code, so that the caller can answer in the
 * words of its own protocol.
 *
 * Two kinds implement the interface: a bucket of the store's folder (`local-bucket.ts`), and a bucket on
 * an S3 service (`remote-buckets.ts`).
 */
import type { ByteRange } from "../core/byte-range.ts";
import type { ChecksumAlgorithm } from "../core/checksum.ts";
import { StoreError, type Method } from "../core/errors.ts";
import type { Content, DescribedObject, Outcome, Request, Result } from "../core/operations.ts";
import type { RemotePlace } from "../remote/remote-options.ts";
import type { WriteOptions } from "./written-content.ts";

export interface Bucket {
  readonly name: string;
  readonly isDeletable: boolean;
  /** Only of a remote bucket. */
  readonly place?: RemotePlace;

  /** @throws StoreError when the bucket refuses the operation */
  call<M extends BucketMethod>(request: Request<M>): Promise<Result<M>>;

  /**
   * Reads an object. The caller gets one version, also when the object is replaced meanwhile.
   *
   * @throws StoreError
   */
  get(request: Omit<Request<"get">, "method">): Promise<OpenedObject | null>;

  /**
   * Writes content that an operation is to store. When the bucket refuses the operation, the bucket
   * removes the file; content that no operation is sent for has to be discarded.
   *
   * @throws StoreError 100100 for content that is too large, 10001 when the disk does not take the
   *   content, 10006 when the bucket was deleted; or the error of the body or of `verify`
   */
  write(body: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<Content>;

  /** `write`, with the content of an object of any bucket, local or remote. The source stays open. */
  copy(source: FoundObject, algorithms: readonly ChecksumAlgorithm[]): Promise<Content>;

  /** Removes the file of content that no operation was sent for. */
  discard(content: Content): Promise<void>;

  /**
   * Only of a remote bucket, whose operations send the content that was written.
   *
   * @param onBytes is called with the number of bytes of the content that have been sent; it may go back
   */
  follow?(content: Content, onBytes: (count: number) => void): void;
}

/** The operations of `call`: `get` also opens content, so it has a method of its own. */
export type BucketMethod = Exclude<Method, "get">;

/** The answer to a `get`. The caller closes the content, also after it has read all of it. */
export type OpenedObject =
  | FoundObject
  | { readonly status: "condition failed"; readonly object: DescribedObject };

export interface FoundObject {
  readonly status: "found";
  readonly object: DescribedObject;
  readonly range: ByteRange;
  readonly partsCount?: number;
  readonly content: Uint8Array | OpenContent;
}

/** Content that is read as the caller asks for it. A chunk is valid until the next one is requested. */
export interface OpenContent {
  chunks(): AsyncGenerator<Uint8Array>;
  close(): void;
}

export async function* chunksOf(content: FoundObject["content"]): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else yield* content.chunks();
}

export function closeContent({ content }: FoundObject): void {
  if (!(content instanceof Uint8Array)) content.close();
}

/** @throws StoreError when the bucket has refused the operation */
export function valueOf<M extends Method>(outcome: Outcome<M>): Result<M> {
  if (outcome.ok) return outcome.value;
  throw new StoreError(outcome.code, outcome.text, outcome);
}

/**
 * `copy` by a read of the source.
 *
 * @throws StoreError 10001 for a source that does not have the MD5 of its object
 */
export function copyByRead(
  bucket: Bucket,
  { object, range, content }: FoundObject,
  algorithms: readonly ChecksumAlgorithm[],
): Promise<Content> {
  const md5 = range.length === object.size ? object.checksums.md5 : undefined;
  return bucket.write(chunksOf(content), {
    algorithms,
    verify: (checksums) => {
      if (md5 === undefined || checksums.md5 === md5) return;
      throw new StoreError(
        10001,
        `The content of "${object.key}" does not match its md5. The object is damaged; put it again or delete it.`,
      );
    },
  });
}
