/** An object, opened for reading, and the form in which Node receives one: a framed stream. */
import type { ByteRange } from "../core/byte-range.ts";
import type { ObjectRecord } from "../core/operations.ts";
import { readStreamFrame, streamFrame } from "../transport/frame.ts";

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

export function encodeOpened(opened: OpenedObject | null): ReadableStream {
  const { content, ...head } = { content: undefined, ...opened };
  const body = content instanceof ArrayBuffer ? new Response(content).body : content;
  return streamFrame(opened && head, body ?? null);
}

/** @param key the key of the object, for the error of content that ends early */
export async function decodeOpened(
  stream: ReadableStream,
  key: string,
): Promise<OpenedObject | null> {
  const frame = await readStreamFrame<DistributiveOmit<OpenedObject, "content"> | null>(stream);
  const head = frame.value;
  if (head?.status !== "found") return head;
  const { length } = head.range;
  const onShort = (count: number): Error => contentEndedError(key, count, length);
  return { ...head, content: frame.body(length, onShort) };
}

function contentEndedError(key: string, count: number, length: number): Error {
  return new Error(
    `get: Cannot read the content of "${key}": it broke off after ${count} of ${length} bytes. ` +
      "The object is damaged; put it again or delete it. (10001)",
  );
}
