/**
 * Content to be joined, on its way to the joiner: the length of a list in four bytes, the list,
 * and behind it the bytes of the slices that are no files.
 */
import type { ContentSlice } from "../core/operations.ts";

export interface JoinRequest {
  readonly bucketName: string;
  readonly content: readonly ContentSlice[];
}

type BlobSlice = Extract<ContentSlice, { blob: string }>;

/** A slice of bytes is known by its length. */
interface JoinList {
  readonly bucketName: string;
  readonly slices: readonly (BlobSlice | number)[];
}

export function encodeJoinRequest({ bucketName, content }: JoinRequest): Blob {
  const slices = content.map((slice) => ("blob" in slice ? slice : slice.bytes.byteLength));
  const list: JoinList = { bucketName, slices };
  const encoded = new TextEncoder().encode(JSON.stringify(list));
  const inline = content.flatMap((slice) => ("blob" in slice ? [] : [slice.bytes]));
  return new Blob([Uint32Array.of(encoded.length), encoded, ...inline]);
}

export function decodeJoinRequest(buffer: ArrayBuffer): JoinRequest {
  const listEnd = 4 + (new Uint32Array(buffer, 0, 1)[0] as number);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, listEnd - 4));
  const { bucketName, slices } = JSON.parse(text) as JoinList;
  let start = listEnd;
  const content = slices.map((slice): ContentSlice => {
    if (typeof slice !== "number") return slice;
    start += slice;
    return { bytes: buffer.slice(start - slice, start) };
  });
  return { bucketName, content };
}
