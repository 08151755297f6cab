/**
 * The calls of a `StoreBucket`.
 *
 * In workerd a `BucketClient` makes them; in Node they go to the binding in workerd
 * (`node/node-binding.ts`). Failures are plain errors with the text that callers of the binding
 * know.
 */
import type { ExpectedChecksum, HashAlgorithm } from "../core/checksum.ts";
import type { KeyHolder } from "../core/metadata.ts";
import type { Method } from "../core/errors.ts";
import type { PartReference } from "../core/multipart.ts";
import type {
  ObjectRecord,
  Request,
  Result,
  UploadReference,
  Operation,
  Outcome,
} from "../core/operations.ts";
import { decodeFrame, encodeFrame } from "./message.ts";
import type { ByteRange } from "../core/byte-range.ts";

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

export interface PieceRequest {
  readonly id: number;
  readonly length: number;
}

/**
 * How a test that runs in the script's isolate observes the calls of the script's buckets.
 *
 * All bindings of an isolate share one observer. Outside of tests there is none, and a call costs
 * one look at `current`.
 */

export interface CallObserver {
  /** The layer of a call that begins now */
  layer(): number | undefined;
  /** Whether the test of the layer is still running */
  isOpen(layer: number | undefined): boolean;
  /**
   * An operation of a call is about to leave the isolate.
   *
   * @returns the layer in which the bucket executes the operation
   */
  send(method: Method, layer: number | undefined): number | undefined;
  /** Is asked for when a call is made, because one batch can have the calls of several tests. */
  recorder(bucketName: string, layer: number | undefined): CallRecorder;
}

export type CallRecorder = (operation: Operation, outcome: Outcome) => void;

export const observation: { current: CallObserver | undefined } = { current: undefined };

/**
 * An object, opened for reading, and the form in which Node receives one through Miniflare's proxy:
 * a frame with the id of the opened content.
 */

export type OpenedObject =
  | {
      readonly status: "found";
      readonly object: ObjectRecord;
      readonly range: ByteRange;
      /** An `ArrayBuffer` when the bytes came with the answer. */
      readonly content: ReadableStream | ArrayBuffer;
    }
  | { readonly status: "condition failed"; readonly object: ObjectRecord };

type DistributiveOmit<T, K extends string> = T extends unknown ? Omit<T, K> : never;

/** An opened object with content that Node reads in pieces. */
type HeldObject = DistributiveOmit<OpenedObject, "content"> & {
  readonly content?: Uint8Array<ArrayBuffer>;
  /** The id of content that did not come with the answer. */
  readonly contentId?: number;
};

/** @param hold keeps content open and returns its id (`proxied-calls.ts`) */
export function encodeHeld(
  opened: OpenedObject | null,
  hold: (content: ReadableStream) => number,
): ReadableStream {
  if (opened?.status !== "found" || opened.content instanceof ArrayBuffer) {
    return streamOf(opened);
  }
  const { content, ...head } = opened;
  return streamOf({ ...head, contentId: hold(content) });
}

function streamOf(held: object | null): ReadableStream {
  return new Blob([encodeFrame(held)]).stream();
}

/** @param pull opens content by its id */
export async function decodeHeld(
  stream: ReadableStream,
  key: string,
  pull: (content: {
    id: number;
    length: number;
    onShort: (count: number) => Error;
  }) => ReadableStream,
): Promise<OpenedObject | null> {
  const held = decodeFrame<HeldObject | null>(await new Response(stream).arrayBuffer());
  if (held?.status !== "found") return held;
  const { content, contentId: id, ...head } = held;
  if (id === undefined) return { ...head, content: (content as Uint8Array<ArrayBuffer>).buffer };
  const { length } = head.range;
  const onShort = (count: number): Error => contentEndedError(key, count, length);
  return { ...head, content: pull({ id, length, onShort }) };
}

function contentEndedError(key: string, count: number, length: number): Error {
  return new Error(
    `get: Cannot read the content of "${key}": it broke off after ${count} of ${length} bytes. ` +
      "The object is damaged; put it again or delete it. (10001)",
  );
}

export type Value = { readonly bytes: Uint8Array } | StreamValue;

export interface StreamValue {
  readonly stream: ReadableStream;
  /** `null` where the length is not known: only in Node */
  readonly length: number | null;
  /** The stream ends with an end-of-stream mark (`client/message.ts`). */
  readonly marked?: boolean;
}
