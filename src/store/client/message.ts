/**
 * What travels between the owner of a store and its clients: the messages of channels and of
 * held faults, frames, and marked streams.
 */
import type { Call, InjectedFault, StoreFault, UnusedFault } from "../core/fault.ts";
import type { Operation, Outcome } from "../core/operations.ts";

/** The messages of a channel (`bucket/bucket-service.ts`), each a frame. */

export interface ChannelRequest {
  /** Of the request, the same in every repetition. */
  readonly id: string;
  readonly operations: readonly Operation[];
}

export interface ChannelAnswer {
  /** Of the request. Answers may arrive in another order than the requests. */
  readonly id: string;
  readonly answers: readonly Outcome[];
}

/** The programs that use the buckets of the owner's runtime through its endpoint. */
export type ClientName = "explorer" | "s3" | "command line" | "node";

/** The header with the name of the program. A runtime of a client process sends none. */
export const clientHeader = "x-ledge-client";

/**
 * The messages of a connection that holds faults (`bucket/held-faults.ts`), each JSON in
 * bytes.
 *
 * A client sends requests; the endpoint answers them in order, each with a report.
 */

export interface RequestedFaults {
  readonly faults: readonly StoreFault[];
  readonly latencyMilliseconds: number;
  readonly clockOffsetMilliseconds: number;
}

export interface FaultsRequest {
  /**
   * Replaces the faults of this connection; `null` ends them. Without them, the request asks for
   * the report.
   */
  readonly hold?: RequestedFaults | null;
}

export interface FaultsReport {
  /** How many calls each fault of this connection has hit, in the order of the faults. */
  readonly hits: readonly number[];
  /** Those of this connection that have hit no call. */
  readonly unused: readonly UnusedFault[];
  /** The last hits of all connections, since this connection has its faults. */
  readonly injected: readonly InjectedFault[];
  readonly storeTime: number;
}

/** The calls of the script and of other processes, as the owner reports them to a process that follows them. */

export interface FollowedCall extends Omit<Call, "method"> {
  readonly method: Call["method"] | "createBucket" | "deleteBucket";
  readonly id: number;
  /** When the call began: milliseconds since the epoch. */
  readonly at: number;
  readonly milliseconds: number;
  /** The name that the program gives itself; empty without a name. */
  readonly client: string;
  readonly text: string | null;
}

export interface FollowedCalls {
  /** The run id of the runtime. The ids of another runtime are others. */
  readonly run: string;
  /** The id of the last call; the next question has it. */
  readonly last: number;
  readonly calls: readonly FollowedCall[];
}

/**
 * The header with the id of a request to the owner's endpoint. A client whose answer was lost sends
 * the request again with the same id, and the bucket executes the writes of the request once.
 */
export const requestIdHeader = "x-ledge-request-id";

/**
 * Frames: values for a transport that carries only bytes.
 *
 * A frame begins with its head: the length of a JSON text in four bytes, and the JSON text. Behind
 * the head are the bytes that JSON cannot hold: the byte arrays of the value.
 */

const lengthBytes = 4;
const lengthPlace = "\0".repeat(lengthBytes);

/** Where a byte array is, counted from the end of the head. */
type Span = [start: number, length: number];

export function encodeFrame(value: unknown): Uint8Array<ArrayBuffer> {
  const attachments: Uint8Array[] = [];
  let attached = 0;
  const detach: Replace = (item) => {
    if (!(item instanceof ArrayBuffer) && !ArrayBuffer.isView(item)) return null;
    const bytes = item instanceof ArrayBuffer ? new Uint8Array(item) : (item as Uint8Array);
    const span: Span = [attached, bytes.length];
    attachments.push(bytes);
    attached += bytes.length;
    return { [bytesField]: span };
  };
  const head = encodeHead(JSON.stringify(replaceObjects(value, detach)));
  if (attached === 0) return head;
  const frame = new Uint8Array(head.length + attached);
  frame.set(head);
  let end = head.length;
  for (const bytes of attachments) {
    frame.set(bytes, end);
    end += bytes.length;
  }
  return frame;
}

function encodeHead(json: string): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(lengthPlace + json) as Uint8Array<ArrayBuffer>;
  const length = head.length - lengthBytes;
  for (let index = 0; index < lengthBytes; index++) {
    head[index] = length >>> (8 * (lengthBytes - 1 - index));
  }
  return head;
}

export function decodeFrame<Value>(buffer: ArrayBuffer): Value {
  const frame = new Uint8Array(buffer);
  const headEnd = lengthBytes + new DataView(buffer).getUint32(0);
  const json = decoder.decode(frame.subarray(lengthBytes, headEnd));
  const value = JSON.parse(json) as Value;
  // Most frames hold no bytes.
  if (!json.includes(bytesField)) return value;
  const attach: Replace = (item) => {
    const span = spanOf(item);
    if (span === null) return null;
    const start = headEnd + span[0];
    // A copy: a view would keep the whole frame in memory, and its `buffer` would be the frame.
    return new Uint8Array(buffer.slice(start, start + span[1]));
  };
  return replaceObjects(value, attach) as Value;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns what takes the place of an object, or `null` if the object stays. */
type Replace = (item: object) => object | null;

/**
 * A copy of the value in which some objects are replaced. What has no such object is not copied. A function that
 * `JSON.stringify` or `JSON.parse` calls for each item would take longer than the rest of the frame.
 */
function replaceObjects(value: unknown, replace: Replace): unknown {
  if (typeof value !== "object" || value === null) return value;
  const replaced = replace(value);
  if (replaced !== null) return replaced;
  let copy: Record<string, unknown> | undefined;
  for (const [name, item] of Object.entries(value)) {
    const other = replaceObjects(item, replace);
    if (other === item) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = other;
  }
  return copy ?? value;
}

/** Metadata may have this name too, but its values are text, and this value is a pair of numbers. */
const bytesField = "$bytes";

function spanOf(item: object): Span | null {
  const span = (item as Record<string, unknown>)[bytesField];
  return Array.isArray(span) ? (span as Span) : null;
}

/**
 * A stream from Node to workerd whose last byte, the end-of-stream mark, says whether the stream
 * before it is complete.
 *
 * A stream that fails on its way through Miniflare's proxy fails the call with an error of the
 * transport, and leaves a rejection that no code handles. So the stream to workerd never fails: it
 * ends with a mark instead. `client/blob-directory.ts` reads the mark.
 */
export const endOfStreamMark = { complete: 1, failed: 0 } as const;

export class MarkedStream {
  readonly readable: ReadableStream<Uint8Array>;
  failure: { readonly error: unknown } | undefined;

  constructor(source: ReadableStream) {
    const reader = (source as ReadableStream<Uint8Array>).getReader();
    this.readable = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.enqueue(Uint8Array.of(endOfStreamMark.complete));
        } catch (error) {
          this.failure = { error };
          controller.enqueue(Uint8Array.of(endOfStreamMark.failed));
        }
        controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }
}
