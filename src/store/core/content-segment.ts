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
  /** The MD5 of the content. Segments that an earlier version stored have none. */
  readonly md5?: string;
  /** The checksum of content in the database (`row-checksum.ts`). */
  readonly checksum?: number;
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

/** The range of a segment, counted from 1; `null` when there is no such segment. */
export function segmentRange(segments: readonly Segment[], number: number): ByteRange | null {
  const segment = segments[number - 1];
  if (segment === undefined) return null;
  const before = segments.slice(0, number - 1);
  return { offset: before.reduce((sum, { size }) => sum + size, 0), length: segment.size };
}

/** The segments as the text of a database column: `[[size, place, md5, checksum], …]`. */
export function encodeSegments(segments: readonly Segment[]): string {
  return JSON.stringify(
    segments.map(({ size, place, md5, checksum }) =>
      checksum === undefined
        ? md5 === undefined
          ? [size, place]
          : [size, place, md5]
        : [size, place, md5, checksum],
    ),
  );
}

export function decodeSegments(text: string): Segment[] {
  const rows = JSON.parse(text) as [number, number | string, string?, number?][];
  return rows.map(([size, place, md5, checksum]) => ({
    size,
    place,
    ...(md5 !== undefined && { md5 }),
    ...(checksum !== undefined && { checksum }),
  }));
}
