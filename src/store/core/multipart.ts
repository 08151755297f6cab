/**
 * Multipart uploads.
 *
 * An upload is in progress until it is completed or aborted. Seven days after its creation, or
 * earlier by a rule of its bucket, it counts as aborted, even before a row of the database says so.
 * The bucket keeps the row of a finished upload for seven more days, so that a second abort is no
 * error.
 */
import { decodeHex } from "../../base/hex.ts";
import type { Checksums } from "./checksum.ts";
import { StoreError } from "./errors.ts";
import { dayMilliseconds } from "./lifecycle.ts";
import {
  objectBytesMax,
  partBytesMin,
  partNumberMax,
  uploadBytesMax,
  uploadLifetimeMilliseconds,
} from "./limits.ts";
import { md5 } from "./hash.ts";

export type UploadState = "in progress" | "completed" | "aborted";

/** A part as `complete` names it. */
export interface PartReference {
  readonly partNumber: number;
  readonly etag: string;
}

/** A part as the S3-compatible interface names it, with the checksums that the part must have. */
export interface CompletedPart extends PartReference {
  readonly checksums?: Checksums;
}

/** An uploaded part. Deviation: its entity tag is the MD5 of its content. */
export interface StoredPart extends PartReference {
  readonly size: number;
}

export interface ListedPart extends StoredPart {
  /** Milliseconds since the epoch */
  readonly uploaded: number;
  /** MD5, and those that were given with the part */
  readonly checksums: Checksums;
}

/** Uploads of keys that begin with `prefix` are aborted so many days after their creation. */
export interface AbortRule {
  readonly prefix: string;
  readonly days: number;
}

/**
 * How much earlier than other uploads an upload expires, by the rules of its bucket. A rule for more
 * than seven days has no effect.
 */
export function earlierExpiry(key: string, rules: readonly AbortRule[]): number {
  const lifetimes = rules
    .filter(({ prefix }) => key.startsWith(prefix))
    .map(({ days }) => days * dayMilliseconds);
  return uploadLifetimeMilliseconds - Math.min(uploadLifetimeMilliseconds, ...lifetimes);
}

/** When an upload created at `time` expires, and when the row of an upload finished at `time` is deleted. */
export function uploadDeadline(time: number): number {
  return time + uploadLifetimeMilliseconds;
}

/**
 * The state of an upload at the time `now`. The row may say so later, because the bucket expires
 * uploads in steps. `null`: the row counts as deleted.
 *
 * @param since when the upload entered the state of its row
 */
export function uploadStateAt(
  { state, since }: { readonly state: UploadState; readonly since: number },
  now: number,
): UploadState | null {
  const deadline = uploadDeadline(since);
  if (deadline > now) return state;
  return state === "in progress" && uploadDeadline(deadline) > now ? "aborted" : null;
}

/** @throws TypeError with the platform's text */
export function validatePartNumber(partNumber: number): void {
  if (partNumber >= 1 && partNumber <= partNumberMax) return;
  throw new TypeError(
    `Part number must be between 1 and ${partNumberMax} (inclusive). ` +
      `Actual value was: ${partNumber}`,
  );
}

/** @throws StoreError 100100 when a put or a part of this size is too large */
export function validateUploadSize(size: number): void {
  if (size > uploadBytesMax) throw new StoreError(100100);
}

/**
 * The parts of the object, in the order of their numbers. The caller may name them in any order,
 * and the numbers may have gaps.
 *
 * @throws StoreError 10025 for a part that does not exist or has another entity tag or another
 *   checksum, 10011 for a part that is too small and not the last, 10048 for parts of unequal size, a last part larger
 *   than the others, a part named twice, or an empty list
 */
export function selectParts<Part extends StoredPart & Pick<CompletedPart, "checksums">>(
  named: readonly CompletedPart[],
  stored: ReadonlyMap<number, Part>,
): Part[] {
  if (new Set(named.map((part) => part.partNumber)).size !== named.length) {
    throw new StoreError(10048);
  }
  const parts = named.map(({ partNumber, etag, checksums }) => {
    const part = stored.get(partNumber);
    if (part === undefined || part.etag !== etag) throw new StoreError(10025);
    if (checksums !== undefined && !hasChecksums(part, checksums)) throw new StoreError(10025);
    return part;
  });
  parts.sort((a, b) => a.partNumber - b.partNumber);

  const last = parts.pop();
  if (last === undefined) throw new StoreError(10048);
  if (parts.some((part) => part.size < partBytesMin)) throw new StoreError(10011);
  const size = parts[0]?.size ?? last.size;
  const unequal = parts.find((part) => part.size !== size) ?? (last.size > size ? last : null);
  if (unequal !== null) throw unequalParts(unequal, size);
  if (size * parts.length + last.size > objectBytesMax) throw new StoreError(100100);
  return [...parts, last];
}

/** The reason is the sentence of the deployed service's S3 API. */
function unequalParts({ partNumber, size }: StoredPart, expected: number): StoreError {
  const reason =
    "All non-trailing parts must have the same length. Non Uniform Part Sizes: " +
    `Expected part ${partNumber} to have size ${expected}, found ${size}`;
  return new StoreError(10048, undefined, { reason });
}

function hasChecksums({ checksums: stored }: Pick<CompletedPart, "checksums">, named: Checksums) {
  return Object.entries(named).every(
    ([algorithm, hex]) => stored?.[algorithm as keyof Checksums] === hex,
  );
}

/** The entity tag of the object: the MD5 of the parts' MD5s, and the number of parts. */
export function multipartEtag(parts: readonly Pick<StoredPart, "etag">[]): string {
  return `${md5(decodeHex(parts.map((part) => part.etag).join(""))!)}-${parts.length}`;
}
