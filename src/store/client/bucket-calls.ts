/**
 * What a `StoreBucket` asks of the bucket it stands for.
 *
 * In workerd that is a `BucketClient`; in Node it is a messenger to one. Failures are plain
 * errors that read as the binding's callers know them.
 */
import type { ByteRange } from "../core/byte-range.ts";
import type { PartReference } from "../core/multipart.ts";
import type { Method, ObjectRecord, Request, Result, UploadReference } from "../core/operations.ts";

/** A value to store. */
export type Value = { readonly bytes: Uint8Array } | StreamValue;

export interface StreamValue {
  readonly stream: ReadableStream;
  /** `null` only where nobody can know it */
  readonly length: number | null;
  /** One byte more follows, which says whether the stream is whole (`core/seal.ts`). */
  readonly sealed?: boolean;
}

export type GetRequest = Omit<Request<"get">, "method">;
export type PutRequest = Omit<Request<"put">, "method" | "content"> & { readonly value: Value };
export type PartRequest = UploadReference & { readonly partNumber: number; readonly value: Value };

/** An object, opened for reading. */
export type Opened =
  | {
      readonly status: "found";
      readonly object: ObjectRecord;
      readonly range: ByteRange;
      /** Bytes where they came with the answer. */
      readonly content: ReadableStream | ArrayBuffer;
    }
  | { readonly status: "condition failed"; readonly object: ObjectRecord };

/**
 * Answers are handed to `make` in the step in which they arrive: a promise between the two would be
 * a good part of what a small call costs.
 */
export interface BucketCalls {
  call<M extends Method, Made>(
    request: Request<M>,
    make: (result: Result<M>) => Made,
  ): Promise<Made>;
  get<Made>(request: GetRequest, make: (opened: Opened | null) => Made): Promise<Made>;
  /** `null`: the condition did not hold, and nothing was stored */
  put(request: PutRequest): Promise<ObjectRecord | null>;
  uploadPart(request: PartRequest): Promise<PartReference>;
}
