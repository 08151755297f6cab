/**
 * Files of the tar format as streams, as POSIX.1-2017 describes it ("pax", ustar Interchange Format): regular files,
 * one at a time. A path or a size that does not fit into the header of ustar is in an extended header before it.
 *
 * `tar-stream` is not used: it brings five packages, one of them with native code, into a bundle that needs none.
 */

export interface TarMember {
  /** With `/`. */
  readonly path: string;
  readonly size: number;
  /** Of exactly `size` bytes. The reader of an archive reads each content before the next member. */
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** The file is no tar file, is cut, or has members that this module does not write. */
export class TarError extends Error {
  override readonly name = "TarError";
}

const blockBytes = 512;
const pathBytesMax = 100;
/** Eleven octal digits. */
const sizeMax = 8 ** 11;
/** Of an extended header: two records, a path and a size. */
const extendedBytesMax = 64 * 1024;

const regular = "0";
const extended = "x";

export async function* writeTar(
  members: AsyncIterable<TarMember> | Iterable<TarMember>,
): AsyncGenerator<Uint8Array> {
  for await (const { path, size, content } of members) {
    const isLong = Buffer.byteLength(path) > pathBytesMax;
    const records = [
      ...(isLong ? [paxRecord("path", path)] : []),
      ...(size >= sizeMax ? [paxRecord("size", String(size))] : []),
    ].join("");
    if (records !== "") {
      const bytes = Buffer.from(records);
      yield header("pax-header", bytes.length, extended);
      yield bytes;
      yield padding(bytes.length);
    }
    yield header(path, size >= sizeMax ? 0 : size, regular);
    yield* content;
    yield padding(size);
  }
  yield Buffer.alloc(2 * blockBytes);
}

function header(path: string, size: number, type: string): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(Buffer.from(path).subarray(0, pathBytesMax).toString("latin1"), 0, "latin1");
  block.write(`${octal(0o600, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100, "latin1");
  block.write(`${octal(size, 11)}\0${octal(0, 11)}\0`, 124, "latin1");
  block.write(`        ${type}`, 148, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.write(`${octal(checksum(block), 6)}\0 `, 148, "latin1");
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

/** The length of a record counts itself. */
function paxRecord(name: string, value: string): string {
  const rest = Buffer.byteLength(` ${name}=${value}\n`);
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return `${length} ${name}=${value}\n`;
}

function padding(size: number): Uint8Array {
  return new Uint8Array(-size & (blockBytes - 1));
}

/** The sum of the bytes of a header, in which the sum itself counts as spaces. */
function checksum(block: Buffer): number {
  return block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);
}

/** @throws TarError */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarMember> {
  const reader = new ByteReader(chunks);
  let pax: Record<string, string> = {};
  for (;;) {
    const block = await reader.read(blockBytes);
    if (block.every((byte) => byte === 0)) return;
    const field = (start: number, length: number): string =>
      block.toString("utf8", start, start + length).replace(/\0.*$/s, "");
    const isTar = field(257, 5) === "ustar" && parseInt(field(148, 8), 8) === checksum(block);
    if (!isTar) throw new TarError("a header is damaged");
    const type = field(156, 1) || regular;
    const size = Number(pax["size"] ?? parseInt(field(124, 12), 8));
    if (type === extended) {
      if (size > extendedBytesMax) throw new TarError("a header is too long");
      const text = await reader.read(size);
      await reader.read(-size & (blockBytes - 1));
      pax = paxRecords(text);
      continue;
    }
    const path = pax["path"] ?? field(0, pathBytesMax);
    if (type !== regular) throw new TarError(`"${path}" is no file`);
    pax = {};
    const content = reader.take(size);
    yield { path, size, content };
    await reader.read(-size & (blockBytes - 1));
  }
}

function paxRecords(text: Buffer): Record<string, string> {
  const records: Record<string, string> = {};
  for (let start = 0; start < text.length;) {
    const [digits = ""] = /^\d+ /.exec(text.toString("latin1", start, start + 20)) ?? [];
    const end = start + parseInt(digits, 10);
    if (!(end > start) || end > text.length) throw new TarError("a header is damaged");
    const [name = "", ...value] = text.toString("utf8", start + digits.length, end - 1).split("=");
    records[name] = value.join("=");
    start = end;
  }
  return records;
}

/** Gives the bytes of a stream in the pieces that its reader asks for. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async read(bytes: number): Promise<Buffer> {
    const parts = [];
    for await (const part of this.take(bytes)) parts.push(Buffer.from(part));
    return Buffer.concat(parts);
  }

  async *take(bytes: number): AsyncGenerator<Uint8Array> {
    for (let left = bytes; left > 0;) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#chunks.next();
        if (done === true) throw new TarError("the file is cut");
        this.#rest = value;
        continue;
      }
      const part = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }
}
