/**
 * How a file is cut into parts.
 *
 * All parts have one size but the last, which may be smaller; a part has at least 5 MiB, and there
 * are at most 10,000. Small parts lose less when a connection breaks, and each costs a request.
 */

const mebibyte = 1024 * 1024;

/** The bucket's limits: docs/store.md */
export const partSizeMin = 5 * mebibyte;
export const partCountMax = 10_000;
const partSizeMax = 5 * 1024 * mebibyte - 5 * mebibyte;
export const fileSizeMax = partSizeMax * partCountMax;

/** What is used while 10,000 of them are enough: up to 78 GiB */
const partSizeUsual = 8 * mebibyte;

export function partSizeFor(fileSize: number): number {
  const needed = Math.ceil(fileSize / partCountMax / mebibyte) * mebibyte;
  return Math.min(Math.max(partSizeUsual, needed), partSizeMax);
}

interface Cut {
  size: number;
  partSize: number;
}

/** An empty file is one empty part: an upload of no parts cannot be completed. */
export function partCount({ size, partSize }: Cut): number {
  return Math.max(1, Math.ceil(size / partSize));
}

/** The bytes of part `partNumber`, or `null` when the file has no such part. */
export function partLength(cut: Cut, partNumber: number): number | null {
  const count = partCount(cut);
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > count) return null;
  return partNumber < count ? cut.partSize : cut.size - cut.partSize * (count - 1);
}

/** The numbers that are not among `done`. */
export function missingParts(cut: Cut, done: Iterable<{ partNumber: number }>): number[] {
  const numbers = new Set(Array.from(done, ({ partNumber }) => partNumber));
  return Array.from({ length: partCount(cut) }, (_, index) => index + 1).filter(
    (number) => !numbers.has(number),
  );
}
