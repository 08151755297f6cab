/**
 * The calls of a `StoreBucket`.
 *
 * In workerd a `BucketClient` makes them; in Node they go to the binding in workerd
 * (`node/node-binding.ts`). Failures are plain errors with the text that callers of the binding
 * know.
 */
import type { Value } from "../content/content-value.ts";
import type { ExpectedChecksum, HashAlgorithm } from "../core/checksum.ts";
import type { KeyHolder } from "../core/customer-key.ts";
import type { Method } from "../core/methods.ts";
import type { PartReference } from "../core/multipart.ts";
import type { ObjectRecord, Request, Result, UploadReference } from "../core/operations.ts";
import type { OpenedObject } from "./opened-object.ts";

export type GetRequest = Omit<Request<"get">, "method">;
export type PutRequest = Omit<Request<"put">, "method" | "content" | "checksum"> & {
  readonly value: Value;
  readonly checksum?: ExpectedChecksum<HashAlgorithm>;
};
export type PartRequest = UploadReference &
  KeyHolder & { readonly partNumber: number; readonly value: Value };

/**
 * `make` receives the answer in the microtask in which the answer arrives: another promise would
 * be a considerable part of the cost of a small call.
 */
export interface BucketCalls {
  call<M extends Method, Made>(
    request: Request<M>,
    make: (result: Result<M>) => Made,
  ): Promise<Made>;
  get<Made>(request: GetRequest, make: (opened: OpenedObject | null) => Made): Promise<Made>;
  /** `null`: the condition does not hold, and nothing is stored */
  put(request: PutRequest): Promise<ObjectRecord | null>;
  uploadPart(request: PartRequest): Promise<PartReference>;
}

/** A call from Node: a call of a bucket, or a call for content that an earlier `get` has opened. */
export type ProxiedCall = keyof BucketCalls | "read" | "close";

/** The request of `read`: the next bytes of an opened content. */
export interface PieceRequest {
  readonly id: number;
  readonly length: number;
}
