/**
 * Writes a zip file as a stream (APPNOTE 6.3.10, which numbers the sections below). Contents are
 * stored as they are, and one entry is read at a time.
 *
 * The checksum of a content is known after its last byte, so it follows in a data descriptor
 * (4.3.9). An entry, an offset or a number of entries that is too large for its field is written in
 * the form of ZIP64 (4.3.14, 4.5.3).
 *
 * `client-zip` is not used: it writes no ZIP64 record for more than 65,535 entries, and `unzip` refuses
 * the file; and it reads ahead, while chunks of the store are valid only until the next is read.
 */
import { crc32 } from "node:zlib";

export interface ZipEntry {
  /** A relative path with slashes. The name of a folder ends in a slash. */
  readonly name: string;
  /** Milliseconds since the epoch */
  readonly modified: number;
  readonly size: number;
  /** Of exactly `size` bytes. A chunk is valid until the next one is requested. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** 4.5 is the first version with ZIP64. */
const versionNeeded = 45;
/** The upper byte says that attributes are those of Unix. */
const versionMadeBy = (3 << 8) | versionNeeded;
/** Bit 3: a data descriptor follows. Bit 11: the name is UTF-8. */
const flags = (1 << 3) | (1 << 11);
const stored = 0;
const fileAttributes = 0o100644;
const folderAttributes = 0o040755;
const max16 = 0xffff;
const max32 = 0xffffffff;

/** @param limits smaller in tests: where the fields of ZIP64 begin */
export async function* zipFile(
  entries: AsyncIterable<ZipEntry>,
  { entriesMax = max16, bytesMax = max32 }: { entriesMax?: number; bytesMax?: number } = {},
): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, modified, size, content } of entries) {
    const nameBytes = Buffer.from(name.toWellFormed());
    const time = dosTime(modified);
    const isLarge = size >= bytesMax;
    const header = localHeader(nameBytes, time, isLarge);
    yield header;
    let checksum = 0;
    let count = 0;
    for await (const chunk of content) {
      checksum = crc32(chunk, checksum);
      count += chunk.length;
      yield chunk;
    }
    if (count !== size) throw new Error(`Cannot write "${name}": ${count} bytes of ${size} came.`);
    const descriptor = dataDescriptor(checksum, size, isLarge);
    yield descriptor;
    const isFar = offset >= bytesMax;
    directory.push(directoryHeader({ nameBytes, time, checksum, size, offset, isLarge, isFar }));
    offset += header.length + size + descriptor.length;
  }
  let directoryBytes = 0;
  for (const header of directory) {
    directoryBytes += header.length;
    yield header;
  }
  const end = { entries: directory.length, directoryBytes, offset };
  if (directory.length >= entriesMax || directoryBytes >= bytesMax || offset >= bytesMax) {
    yield endOfDirectory64(end);
  }
  yield endOfDirectory(end);
}

/** 4.3.7. The fields of the size and the checksum are zero, because the descriptor has them. */
function localHeader(name: Buffer, time: number, isLarge: boolean): Buffer {
  const extra = isLarge ? zip64Extra([0, 0]) : Buffer.alloc(0);
  const fixed = Buffer.alloc(30);
  fixed.writeUInt32LE(0x04034b50, 0);
  fixed.writeUInt16LE(versionNeeded, 4);
  fixed.writeUInt16LE(flags, 6);
  fixed.writeUInt16LE(stored, 8);
  fixed.writeUInt32LE(time, 10);
  fixed.writeUInt32LE(isLarge ? max32 : 0, 18);
  fixed.writeUInt32LE(isLarge ? max32 : 0, 22);
  fixed.writeUInt16LE(name.length, 26);
  fixed.writeUInt16LE(extra.length, 28);
  return Buffer.concat([fixed, name, extra]);
}

/** 4.3.9 */
function dataDescriptor(checksum: number, size: number, isLarge: boolean): Buffer {
  const bytes = Buffer.alloc(isLarge ? 24 : 16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(checksum, 4);
  if (isLarge) {
    bytes.writeBigUInt64LE(BigInt(size), 8);
    bytes.writeBigUInt64LE(BigInt(size), 16);
  } else {
    bytes.writeUInt32LE(size, 8);
    bytes.writeUInt32LE(size, 12);
  }
  return bytes;
}

interface WrittenEntry {
  readonly nameBytes: Buffer;
  readonly time: number;
  readonly checksum: number;
  readonly size: number;
  readonly offset: number;
  readonly isLarge: boolean;
  readonly isFar: boolean;
}

/** 4.3.12 */
function directoryHeader(entry: WrittenEntry): Buffer {
  const { nameBytes, time, checksum, size, offset, isLarge, isFar } = entry;
  const large = [...(isLarge ? [size, size] : []), ...(isFar ? [offset] : [])];
  const extra = large.length === 0 ? Buffer.alloc(0) : zip64Extra(large);
  const isFolder = nameBytes.at(-1) === 0x2f;
  const fixed = Buffer.alloc(46);
  fixed.writeUInt32LE(0x02014b50, 0);
  fixed.writeUInt16LE(versionMadeBy, 4);
  fixed.writeUInt16LE(versionNeeded, 6);
  fixed.writeUInt16LE(flags, 8);
  fixed.writeUInt16LE(stored, 10);
  fixed.writeUInt32LE(time, 12);
  fixed.writeUInt32LE(checksum, 16);
  fixed.writeUInt32LE(isLarge ? max32 : size, 20);
  fixed.writeUInt32LE(isLarge ? max32 : size, 24);
  fixed.writeUInt16LE(nameBytes.length, 28);
  fixed.writeUInt16LE(extra.length, 30);
  fixed.writeUInt16LE(isFolder ? folderAttributes : fileAttributes, 40);
  fixed.writeUInt32LE(isFar ? max32 : offset, 42);
  return Buffer.concat([fixed, nameBytes, extra]);
}

/** 4.5.3 */
function zip64Extra(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + 8 * values.length);
  bytes.writeUInt16LE(1, 0);
  bytes.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries())
    bytes.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return bytes;
}

interface DirectoryEnd {
  readonly entries: number;
  readonly directoryBytes: number;
  /** Of the directory. */
  readonly offset: number;
}

/** The record and its locator: 4.3.14 and 4.3.15. */
function endOfDirectory64({ entries, directoryBytes, offset }: DirectoryEnd): Buffer {
  const bytes = Buffer.alloc(56 + 20);
  bytes.writeUInt32LE(0x06064b50, 0);
  bytes.writeBigUInt64LE(44n, 4);
  bytes.writeUInt16LE(versionMadeBy, 12);
  bytes.writeUInt16LE(versionNeeded, 14);
  bytes.writeBigUInt64LE(BigInt(entries), 24);
  bytes.writeBigUInt64LE(BigInt(entries), 32);
  bytes.writeBigUInt64LE(BigInt(directoryBytes), 40);
  bytes.writeBigUInt64LE(BigInt(offset), 48);
  bytes.writeUInt32LE(0x07064b50, 56);
  bytes.writeBigUInt64LE(BigInt(offset + directoryBytes), 64);
  bytes.writeUInt32LE(1, 72);
  return bytes;
}

/** 4.3.16 */
function endOfDirectory({ entries, directoryBytes, offset }: DirectoryEnd): Buffer {
  const bytes = Buffer.alloc(22);
  bytes.writeUInt32LE(0x06054b50, 0);
  bytes.writeUInt16LE(Math.min(entries, max16), 8);
  bytes.writeUInt16LE(Math.min(entries, max16), 10);
  bytes.writeUInt32LE(Math.min(directoryBytes, max32), 12);
  bytes.writeUInt32LE(Math.min(offset, max32), 16);
  return bytes;
}

/** The local time, with the date in the upper half (4.4.6), which begins in 1980 and ends in 2107. */
function dosTime(milliseconds: number): number {
  const date = new Date(milliseconds);
  const year = date.getFullYear();
  if (!(year >= 1980 && year <= 2107)) return (1 << 21) | (1 << 16);
  const day = ((year - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate();
  const time = (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}
