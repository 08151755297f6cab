/**
 * The division of a file into parts.
 *
 * All parts have the same size, except the last, which may be smaller. A part has at least 5 MiB,
 * and a file has at most 10,000 parts. Small parts lose less when a connection breaks, but each
 * part needs a request.
 */

const mebibyte = 1024 * 1024;

/** Limits of the bucket: docs/store.md. */
export const partSizeMin = 5 * mebibyte;
export const partCountMax = 10_000;
const partSizeMax = 5 * 1024 * mebibyte - 5 * mebibyte;
export const fileSizeMax = partSizeMax * partCountMax;

/** The size for files up to 78 GiB, for which 10,000 parts are enough. */
const partSizeUsual = 8 * mebibyte;

export function partSizeFor(fileSize: number): number {
  const needed = Math.ceil(fileSize / partCountMax / mebibyte) * mebibyte;
  return Math.min(Math.max(partSizeUsual, needed), partSizeMax);
}

interface Division {
  size: number;
  partSize: number;
}

/** An empty file has one empty part, because an upload without parts cannot be completed. */
export function partCount({ size, partSize }: Division): number {
  return Math.max(1, Math.ceil(size / partSize));
}

/** The size of part `partNumber`, or `null` when the file has no such part. */
export function partLength(division: Division, partNumber: number): number | null {
  const count = partCount(division);
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > count) return null;
  const { size, partSize } = division;
  return partNumber < count ? partSize : size - partSize * (count - 1);
}

/** The part numbers of the file that are not in `done`. */
export function missingParts(division: Division, done: Iterable<{ partNumber: number }>): number[] {
  const numbers = new Set(Array.from(done, ({ partNumber }) => partNumber));
  return Array.from({ length: partCount(division) }, (_, index) => index + 1).filter(
    (number) => !numbers.has(number),
  );
}
