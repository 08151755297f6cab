/**
 * The index of SQLite's write-ahead log, which is the file `-shm` beside a database in use.
 *
 * https://sqlite.org/walformat.html#the_wal_index_file_format describes its two headers.
 */

/** The length of both headers. */
export const walIndexBytes = 136;

const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/**
 * How much of the log a reader needs beside the database: up to the last frame that is committed.
 * The log may be longer, and what follows is overwritten by the next transaction.
 *
 * @param index the start of the file; SQLite writes numbers in the order of the machine
 * @returns 0 when the database has the content of all frames, or when the log is not in use
 */
export function neededLogBytes(index: Buffer): number {
  if (index.length < walIndexBytes) return 0;
  const isInitialized = index.readUInt8(12) === 1;
  const pageBytes = index.readUInt16LE(14);
  const lastFrame = index.readUInt32LE(16);
  const framesInDatabase = index.readUInt32LE(96);
  if (!isInitialized || framesInDatabase >= lastFrame) return 0;
  // A page of 65,536 bytes does not fit into the field, and is written as 1.
  const frameBytes = frameHeaderBytes + (pageBytes === 1 ? 65_536 : pageBytes);
  return logHeaderBytes + lastFrame * frameBytes;
}
