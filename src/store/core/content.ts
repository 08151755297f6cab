/**
 * The segments of an object's content: one, or several after a multipart upload.
 *
 * The content of the object is the content of its segments in order. A segment is in the database
 * (`place` is a row id) or in a blob file (`place` is the name of the file).
 */
import type { ByteRange } from "./byte-range.ts";
import { verifyChecksum, type ExpectedChecksum } from "./checksum.ts";
import { inlineBytesMax } from "./limits.ts";
import { validateUploadSize } from "./multipart.ts";
import type { Content } from "./operations.ts";

export interface Segment {
  readonly size: number;
  readonly place: number | string;
  /** The MD5 of the content. */
  readonly md5: string;
}

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

/** The segments as the text of a database column: `[[size, place, md5], …]`. */
export function encodeSegments(segments: readonly Segment[]): string {
  return JSON.stringify(segments.map(({ size, place, md5 }) => [size, place, md5]));
}

export function decodeSegments(text: string): Segment[] {
  const rows = JSON.parse(text) as [number, number | string, string][];
  return rows.map(([size, place, md5]) => ({ size, place, md5 }));
}

/**
 * Names of blob files, and the rule for garbage collection.
 *
 * A blob is written before the row that refers to it. Between the two writes, the blob looks the
 * same as a blob that a crash left behind. So a name carries the id of the run that wrote it, and
 * only blobs of ended runs are collected. A run writes its run record before its first blob:
 * a collector that lists the blobs first and reads the run records afterwards removes no blob of a
 * run that is alive.
 *
 * During a write, the disk service uses a temporary name and hides the file from its listings, so
 * Node collects these files. Each version of workerd has its own pattern:
 * `.kj-tmp.<process>.<count>.<name>.partial`, `.<name>.<process>.<count>.tmp`. So a file is temporary
 * if its name begins with a dot. Its writer is known if the name of a blob is in its name.
 */

const blobPattern = /^([0-9a-f]{16})\.[0-9a-f]{32}$/;
const temporaryPattern = /^\.(?:.*[^0-9a-f])?([0-9a-f]{16})\.[0-9a-f]{32}(?![0-9a-f])/;

/**
 * @param runId 16 hexadecimal digits
 * @param random 32 hexadecimal digits
 */
export function makeBlobName(runId: string, random: string): string {
  return `${runId}.${random}`;
}

/** Whether this is the name of a finished blob. */
export function isBlobName(fileName: string): boolean {
  return blobPattern.test(fileName);
}

/** Whether the file is a blob, finished or not, whose run is not active. */
export function isAbandoned(fileName: string, activeRuns: readonly string[]): boolean {
  const writer = writerOf(fileName);
  return writer !== null && !activeRuns.includes(writer);
}

/** The run that has written a blob, finished or not; `null` if the name does not say it. */
export function writerOf(fileName: string): string | null {
  const pattern = isTemporary(fileName) ? temporaryPattern : blobPattern;
  return pattern.exec(fileName)?.[1] ?? null;
}

export function isTemporary(fileName: string): boolean {
  return fileName.startsWith(".");
}

export function isOfRun(blobName: string, runId: string): boolean {
  return blobName.startsWith(`${runId}.`);
}

const databaseMarkPattern = /^database\.[0-9a-f]{16}$/;

/** The file that says which database names the files of a folder (`bucket/garbage-collector.ts`). */
export function databaseMark(databaseId: string): string {
  return `database.${databaseId}`;
}

/** A database: its id, and how many files its commits have named so far. */
export interface DatabaseState {
  readonly databaseId: string;
  readonly generation: number;
}

/**
 * Whether a mark says that files belong to another database, or to a newer state of this one.
 *
 * @param text the content of the mark: a generation of the database
 */
export function isForeignMark(
  mark: { readonly name: string; readonly text: string },
  { databaseId, generation }: DatabaseState,
): boolean {
  if (!isDatabaseMark(mark.name)) return false;
  return mark.name !== databaseMark(databaseId) || Number(mark.text) > generation;
}

export function isDatabaseMark(fileName: string): boolean {
  return databaseMarkPattern.test(fileName);
}

/**
 * The folder of a bucket's blobs. `Photos` and `photos` are two buckets, but some file systems
 * ignore case.
 */
export function bucketFolder(bucketName: string): string {
  return bucketName.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`);
}

/** The name of the bucket whose blobs a folder holds: the inverse of `bucketFolder()`. */
export function bucketOfFolder(folder: string): string {
  return folder.replace(/\+([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

interface BlobDamage {
  readonly blob: string;
  readonly expectedBytes: number;
  /** `null`: the file does not exist */
  readonly actualBytes: number | null;
  /** The MD5 hashes of a file that has the right size and other content. */
  readonly hashes?: { readonly expected: string; readonly actual: string };
}

/** What is wrong, as the end of a sentence. */
export function describeBlobDamage(damage: BlobDamage): string {
  const { blob, expectedBytes, actualBytes, hashes } = damage;
  if (hashes !== undefined) {
    return `file "${blob}" has the MD5 ${hashes.actual}, metadata says ${hashes.expected}`;
  }
  return actualBytes === null
    ? `file "${blob}" is missing, metadata says ${expectedBytes} bytes`
    : `file "${blob}" is ${actualBytes} bytes, metadata says ${expectedBytes}`;
}

/** The file of a blob is missing, or is not the file that the database says. */
export class BlobDamagedError extends Error {
  override readonly name = "BlobDamagedError";
  readonly damage: BlobDamage;

  constructor(damage: BlobDamage) {
    super(describeBlobDamage(damage));
    this.damage = damage;
  }
}

/**
 * Checks content before anything is written.
 *
 * @param bytesMax the largest content that needs no blob: a bucket on an S3 service has no database
 * @returns the size
 * @throws StoreError 10037 when the content has another hash than expected, 100100 when it is too
 *   large
 */
export function checkContent(
  content: Content,
  expected?: ExpectedChecksum,
  bytesMax: number = inlineBytesMax,
): number {
  const size = "bytes" in content ? content.bytes.length : content.size;
  if ("bytes" in content && size > bytesMax) {
    throw new Error(`Cannot store ${size} bytes in the database: write a blob first`);
  }
  validateUploadSize(size);
  verifyChecksum(expected, content.checksums);
  return size;
}

/**
 * How much of a small body its row keeps, so that rows fill SQLite's pages.
 *
 * A page holds only whole rows, and common body sizes are powers of two. A row with 1024 bytes of
 * content is a few bytes longer than a quarter of a page: three rows fit, and a quarter of the
 * file stays empty. So the last few bytes of such a body go into the object's own row.
 */

/** SQLite's page of 4096 bytes, less its header. */
const pageBytes = 4088;
/**
 * The overhead of a row: a cell pointer (2), the payload length (2), the rowid (4, up to 2^28), and
 * the record header (4).
 */
const rowOverheadBytes = 12;
/** A longer row continues on overflow pages. */
const rowBytesMax = 4057;
/** A longer tail would make the rows of objects long, and listings slow. */
const tailBytesMax = 48;
/** Pages with more rows than this waste too little to be worth a cut. */
const rowsPerPageMax = 16;

/** How many bytes of a body of `size` bytes its row keeps: all, or all but a short tail. */
export function fitBodyToPage(size: number): number {
  const rows = Math.ceil(pageBytes / (size + rowOverheadBytes));
  if (rows > rowsPerPageMax) return size;
  const fitting = Math.min(Math.floor(pageBytes / rows) - rowOverheadBytes, rowBytesMax);
  return size > fitting && size - fitting <= tailBytesMax ? fitting : size;
}
