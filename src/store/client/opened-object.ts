/**
 * An object, opened for reading, and the form in which Node receives one through Miniflare's proxy:
 * a frame with the id of the opened content.
 */
import type { ByteRange } from "../core/byte-range.ts";
import type { ObjectRecord } from "../core/operations.ts";
import { decodeFrame, encodeFrame } from "../transport/frame.ts";

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

/** @param hold keeps content open and returns its id (`open-contents.ts`) */
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
