/**
 * Where an object's bytes are: in one place, or, after a multipart upload, in several.
 *
 * A segment is a row of the database, named by a number, or a file, named by text.
 */
import type { ByteRange } from "./byte-range.ts";

export interface Segment {
  readonly size: number;
  readonly place: number | string;
}

/** A segment and the bytes of it that are wanted. */
export interface SegmentSlice extends ByteRange {
  readonly segment: Segment;
}

/** The slices of `segments` that make up `range`, in order. */
export function sliceSegments(segments: readonly Segment[], range: ByteRange): SegmentSlice[] {
  const slices: SegmentSlice[] = [];
  const end = range.offset + range.length;
  let start = 0;
  for (const segment of segments) {
    const offset = Math.max(range.offset - start, 0);
    const length = Math.min(end - start, segment.size) - offset;
    if (length > 0) slices.push({ segment, offset, length });
    start += segment.size;
    if (start >= end) break;
  }
  return slices;
}

/** The column's text: `[[size, place], …]`. */
export function encodeSegments(segments: readonly Segment[]): string {
  return JSON.stringify(segments.map(({ size, place }) => [size, place]));
}

export function decodeSegments(text: string): Segment[] {
  const pairs = JSON.parse(text) as [number, number | string][];
  return pairs.map(([size, place]) => ({ size, place }));
}
