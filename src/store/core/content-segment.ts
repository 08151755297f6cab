/**
 * The segments of an object's content: one, or several after a multipart upload.
 *
 * The content of the object is the content of its segments in order. A segment is in the database
 * (`place` is a row id) or in a blob file (`place` is the name of the file).
 */
import type { ByteRange } from "./byte-range.ts";

export interface Segment {
  readonly size: number;
  readonly place: number | string;
}

/** A segment, and the range of its bytes to read. */
export interface SegmentSlice extends ByteRange {
  readonly segment: Segment;
}

/** The slices of `segments` that `range` of the object consists of, in order. */
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

/** The segments as the text of a database column: `[[size, place], …]`. */
export function encodeSegments(segments: readonly Segment[]): string {
  return JSON.stringify(segments.map(({ size, place }) => [size, place]));
}

export function decodeSegments(text: string): Segment[] {
  const pairs = JSON.parse(text) as [number, number | string][];
  return pairs.map(([size, place]) => ({ size, place }));
}
