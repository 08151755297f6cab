/**
 * Names of blob files, and which of them a start of the runtime may collect.
 *
 * A blob is written before the row that refers to it. Between the two it looks just like what a
 * crash leaves behind. So a name carries the run of the runtime that wrote it, its *boot*, and
 * only blobs of boots that have ended are collected. Boots are ordered by time: one that began
 * after ours may be alive without our knowing, and is left alone.
 *
 * While a file is being written, the disk service gives it a name of its own around ours:
 * `.kj-tmp.<process>.<count>.<name>.partial`.
 */

const bootPattern = /^[0-9a-z]{9}-[0-9a-z]+$/;
const blobPattern = /(?:^|\.)([0-9a-z]{9}-[0-9a-z]+)\.[0-9a-f]{32}(?:\.partial)?$/;

/** A boot's id: the time, in a form that sorts as text, and what tells apart two of one moment. */
export function makeBoot(time: number, random: string): string {
  const boot = `${time.toString(36).padStart(9, "0")}-${random}`;
  if (!bootPattern.test(boot)) throw new Error(`Cannot make a boot id out of "${random}"`);
  return boot;
}

/** @param random 32 hexadecimal digits */
export function makeBlobName(boot: string, random: string): string {
  return `${boot}.${random}`;
}

/** Whether the file is one of ours, and its writer is gone. */
export function isAbandoned(
  fileName: string,
  { boot, alive }: { boot: string; alive: readonly string[] },
): boolean {
  const writer = blobPattern.exec(fileName)?.[1];
  return writer !== undefined && writer < boot && !alive.includes(writer);
}
