/**
 * Names of files, and which of them may be collected.
 *
 * A blob is written before the row that refers to it. Between the two it looks just like what a
 * crash leaves behind. So a name carries the run of the runtime that wrote it, its *runId*, and
 * only blobs of runs that have ended are collected. A runId leaves a note in the folder before it
 * writes its first blob: whoever looks at the blobs first and at the notes afterwards takes no
 * blob from a run that is going on.
 *
 * While a file is being written, the disk service gives it a name of its own around ours,
 * `.kj-tmp.<process>.<count>.<name>.partial`, which it never lists. Those are for Node to collect.
 */

const blobPattern =
  /^(?:\.kj-tmp\.\d+\.\d+\.([0-9a-f]{16})\.[0-9a-f]{32}\.partial|([0-9a-f]{16})\.[0-9a-f]{32})$/;

/**
 * @param runId 16 hexadecimal digits
 * @param random 32 hexadecimal digits
 */
export function makeBlobName(runId: string, random: string): string {
  return `${runId}.${random}`;
}

/** Whether the file is one of ours, and its writer is not among those that still run. */
export function isAbandoned(fileName: string, activeRuns: readonly string[]): boolean {
  const match = blobPattern.exec(fileName);
  const writer = match?.[1] ?? match?.[2];
  return writer !== undefined && !activeRuns.includes(writer);
}

/**
 * The folder of a bucket's blobs. Some file systems do not tell `Photos` from `photos`, which are
 * two buckets.
 */
export function bucketFolder(bucketName: string): string {
  return bucketName.replace(/[A-Z]/g, (letter) => `+${letter.toLowerCase()}`);
}
