/**
 * Names of blob files, and the rule for garbage collection.
 *
 * A blob is written before the row that refers to it. Between the two writes, the blob looks the
 * same as a blob that a crash left behind. So a name carries the id of the run that wrote it, and
 * only blobs of ended runs are collected. A run writes its run record before its first blob:
 * a collector that lists the blobs first and reads the run records afterwards removes no blob of a
 * run that is alive.
 *
 * During a write, the disk service uses the name `.kj-tmp.<process>.<count>.<name>.partial` and
 * hides the file from its listings, so Node collects these files.
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

/** Whether the file is a blob, finished or not, whose run is not active. */
export function isAbandoned(fileName: string, activeRuns: readonly string[]): boolean {
  const match = blobPattern.exec(fileName);
  const writer = match?.[1] ?? match?.[2];
  return writer !== undefined && !activeRuns.includes(writer);
}

/** Whether the run has written the blob. */
export function isOfRun(blobName: string, runId: string): boolean {
  return blobName.startsWith(`${runId}.`);
}

const databaseMarkPattern = /^database\.[0-9a-f]{16}$/;

/** The empty file that says which database names the files of a folder (`bucket/garbage-collector.ts`). */
export function databaseMark(databaseId: string): string {
  return `database.${databaseId}`;
}

/** Whether the file is a mark that was being written. */
export function isPartialMark(fileName: string): boolean {
  return /^\.kj-tmp\.\d+\.\d+\.database\.[0-9a-f]{16}\.partial$/.test(fileName);
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
