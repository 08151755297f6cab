import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32 } from "node:zlib";
import { zipFile, type ZipEntry } from "./zip-writer.ts";

interface ReadEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Faster than `expect`, for many entries. */
function check(actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`The file has ${actual} instead of ${expected}.`);
}

/** Reads by the directory at the end, as unpackers do, and verifies what is said twice. */
function readZip(file: Buffer): ReadEntry[] {
  const end = file.length - 22;
  check(file.readUInt32LE(end), 0x06054b50);
  let count = file.readUInt16LE(end + 10);
  let position = file.readUInt32LE(end + 16);
  let bytes = file.readUInt32LE(end + 12);
  if (end >= 20 && file.readUInt32LE(end - 20) === 0x07064b50) {
    const record = Number(file.readBigUInt64LE(end - 20 + 8));
    check(file.readUInt32LE(record), 0x06064b50);
    count = Number(file.readBigUInt64LE(record + 32));
    bytes = Number(file.readBigUInt64LE(record + 40));
    position = Number(file.readBigUInt64LE(record + 48));
  }
  const directoryEnd = position + bytes;
  const entries: ReadEntry[] = [];
  while (position < directoryEnd) {
    check(file.readUInt32LE(position), 0x02014b50);
    const nameLength = file.readUInt16LE(position + 28);
    const extraLength = file.readUInt16LE(position + 30);
    const nameBytes = file.subarray(position + 46, position + 46 + nameLength);
    const extra = file.subarray(position + 46 + nameLength).subarray(0, extraLength);
    let [next, size, offset] = [
      4,
      file.readUInt32LE(position + 24),
      file.readUInt32LE(position + 42),
    ];
    const take = (): number => Number(extra.readBigUInt64LE((next += 8) - 8));
    if (size === 0xffffffff) [size] = [take(), take()];
    if (offset === 0xffffffff) offset = take();
    check(file.readUInt32LE(offset), 0x04034b50);
    const localName = file.readUInt16LE(offset + 26);
    const start = offset + 30 + localName + file.readUInt16LE(offset + 28);
    const content = file.subarray(start, start + size);
    check(nameBytes.compare(file.subarray(offset + 30, offset + 30 + localName)), 0);
    check(crc32(content), file.readUInt32LE(position + 16));
    check(file.readUInt32LE(start + size), 0x08074b50);
    check(file.readUInt32LE(start + size + 4), crc32(content));
    entries.push({ name: nameBytes.toString("utf8"), content });
    position += 46 + nameLength + extraLength;
  }
  check(entries.length, count);
  return entries;
}

async function* entriesOf(entries: readonly ReadEntry[]): AsyncGenerator<ZipEntry> {
  for (const { name, content } of entries) {
    yield { name, modified: 1_700_000_000_000, size: content.length, content: inPieces(content) };
  }
}

/** The memory of a chunk is used again, as in the store. */
async function* inPieces(content: Buffer): AsyncGenerator<Uint8Array> {
  const memory = Buffer.alloc(3);
  for (let start = 0; start < content.length; start += 3) {
    const count = content.copy(memory, 0, start, start + 3);
    yield memory.subarray(0, count);
    memory.fill(0);
  }
}

async function* tooShort(): AsyncGenerator<ZipEntry> {
  yield { name: "a", modified: 0, size: 2, content: inPieces(Buffer.alloc(1)) };
}

async function readAll(file: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function write(
  entries: readonly ReadEntry[],
  limits?: { entriesMax?: number; bytesMax?: number },
): Promise<Buffer> {
  return readAll(zipFile(entriesOf(entries), limits));
}

const entry = fc.record({
  name: fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }),
  content: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
});

describe("zipFile()", () => {
  it("writes what a reader finds by the directory", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 8 }), async (entries) => {
        expect(readZip(await write(entries))).toEqual(entries);
      }),
    );
  });

  it("writes large entries, far entries and many entries as ZIP64", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 8 }), async (entries) => {
        const file = await write(entries, { entriesMax: 4, bytesMax: 10 });
        expect(readZip(file)).toEqual(entries);
      }),
    );
  });

  it("writes more than 65,535 entries", async () => {
    const entries = Array.from({ length: 65_536 }, (_, index) => ({
      name: `${index}`,
      content: Buffer.alloc(0),
    }));
    const file = await write(entries);
    expect(readZip(file)).toHaveLength(65_536);
  });

  it("refuses content of another length than announced", async () => {
    await expect(readAll(zipFile(tooShort()))).rejects.toThrow('Cannot write "a": 1 bytes of 2');
  });
});
