/**
 * Hashes and CRCs that are computed synchronously, in every runtime.
 *
 * MD5, SHA-1 and SHA-256 are for the entity tags and the composite checksums of multipart objects,
 * which are computed inside a synchronous transaction. workerd's hashes are asynchronous, or part of
 * its Node.js compatibility, which takes longer to start than the rest of the buckets' worker
 * (`docs/decisions/0013`, Start-up). The input is the hashes of the parts, at most 320 kB; the hashes
 * of contents come from the runtime.
 *
 * The CRCs of the S3-compatible interface are CRC-32 (ISO-HDLC), CRC-32C (Castagnoli) and
 * CRC-64/NVME. All three are reflected, and begin and end with an inversion. A CRC of bytes is
 * computed eight bytes at a time with eight tables ("slicing by eight"). A register of 64 bits is two
 * halves, because numbers of JavaScript have no more bits. The CRC of a concatenation follows from
 * the CRCs and the lengths of its pieces: the object of an upload gets its CRC from the CRCs of the
 * parts, and no content is read again.
 */
import { md5 as md5Of, sha1 as sha1Of } from "@noble/hashes/legacy.js";
import { sha256 as sha256Of } from "@noble/hashes/sha2.js";
import { encodeHex } from "../../base/hex.ts";

/** The hash in lower-case hexadecimal. */
export function md5(content: Uint8Array): string {
  return encodeHex(md5Of(content));
}

/** The hash in lower-case hexadecimal. */
export function sha1(content: Uint8Array): string {
  return encodeHex(sha1Of(content));
}

/** The hash in lower-case hexadecimal. */
export function sha256(content: Uint8Array): string {
  return encodeHex(sha256Of(content));
}

export type CrcAlgorithm = "crc32" | "crc32c" | "crc64nvme";

/** The polynomials, reflected. */
const polynomials: Record<CrcAlgorithm, { readonly bits: number; readonly reflected: bigint }> = {
  crc32: { bits: 32, reflected: 0xedb88320n },
  crc32c: { bits: 32, reflected: 0x82f63b78n },
  crc64nvme: { bits: 64, reflected: 0x9a6c9329ac4bc9b5n },
};

const tablesCount = 8;
const tableLength = 256;

/** Eight tables in one array, for the low and for the high half of a register. */
interface CrcTables {
  readonly low: Int32Array;
  /** `null` for a register of 32 bits */
  readonly high: Int32Array | null;
}

/** Made when they are needed first: 16 KiB each. */
const tables = new Map<CrcAlgorithm, CrcTables>();

function tablesOf(algorithm: CrcAlgorithm): CrcTables {
  const known = tables.get(algorithm);
  if (known !== undefined) return known;
  const { bits, reflected } = polynomials[algorithm];
  const low = new Int32Array(tablesCount * tableLength);
  const high = new Int32Array(tablesCount * tableLength);
  for (let byte = 0; byte < tableLength; byte++) {
    let crc = BigInt(byte);
    for (let table = 0; table < tablesCount; table++) {
      for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ reflected : crc >> 1n;
      low[table * tableLength + byte] = Number(BigInt.asIntN(32, crc));
      high[table * tableLength + byte] = Number(BigInt.asIntN(32, crc >> 32n));
    }
  }
  const made = { low, high: bits === 64 ? high : null };
  tables.set(algorithm, made);
  return made;
}

/** A CRC of content that arrives in pieces. */
export class RunningCrc {
  readonly #tables: CrcTables;
  #low = -1;
  #high = -1;

  constructor(algorithm: CrcAlgorithm) {
    this.#tables = tablesOf(algorithm);
  }

  update(bytes: Uint8Array): this {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#tables.high === null) this.#update32(view, this.#tables.low);
    else this.#update64(view, this.#tables.low, this.#tables.high);
    return this;
  }

  /** In hexadecimal. More bytes may follow. */
  digest(): string {
    const low = hexWord(~this.#low);
    return this.#tables.high === null ? low : hexWord(~this.#high) + low;
  }

  #update32(view: DataView, table: Int32Array): void {
    let crc = this.#low;
    let offset = 0;
    for (const end = view.byteLength - 7; offset < end; offset += 8) {
      const first = crc ^ view.getInt32(offset, true);
      const second = view.getInt32(offset + 4, true);
      crc = lookUp(table, first, second);
    }
    for (; offset < view.byteLength; offset++) {
      crc = (crc >>> 8) ^ (table[(crc ^ view.getUint8(offset)) & 0xff] as number);
    }
    this.#low = crc;
  }

  #update64(view: DataView, tableLow: Int32Array, tableHigh: Int32Array): void {
    let low = this.#low;
    let high = this.#high;
    let offset = 0;
    for (const end = view.byteLength - 7; offset < end; offset += 8) {
      const first = low ^ view.getInt32(offset, true);
      const second = high ^ view.getInt32(offset + 4, true);
      low = lookUp(tableLow, first, second);
      high = lookUp(tableHigh, first, second);
    }
    for (; offset < view.byteLength; offset++) {
      const index = (low ^ view.getUint8(offset)) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (tableLow[index] as number);
      high = (high >>> 8) ^ (tableHigh[index] as number);
    }
    this.#low = low;
    this.#high = high;
  }
}

/** Advances a register over eight bytes: the first byte has the most bytes behind it. */
function lookUp(table: Int32Array, first: number, second: number): number {
  return (
    (table[1792 + (first & 0xff)] as number) ^
    (table[1536 + ((first >>> 8) & 0xff)] as number) ^
    (table[1280 + ((first >>> 16) & 0xff)] as number) ^
    (table[1024 + (first >>> 24)] as number) ^
    (table[768 + (second & 0xff)] as number) ^
    (table[512 + ((second >>> 8) & 0xff)] as number) ^
    (table[256 + ((second >>> 16) & 0xff)] as number) ^
    (table[second >>> 24] as number)
  );
}

export function crcOf(algorithm: CrcAlgorithm, bytes: Uint8Array): string {
  return new RunningCrc(algorithm).update(bytes).digest();
}

/** The CRC of the concatenation of pieces, in hexadecimal. */
export function combineCrcs(
  algorithm: CrcAlgorithm,
  pieces: readonly { readonly hex: string; readonly size: number }[],
): string {
  const { bits } = polynomials[algorithm];
  const shifts = new Map<number, bigint>();
  let combined = 0n;
  for (const { hex, size } of pieces) {
    let shift = shifts.get(size);
    if (shift === undefined) shifts.set(size, (shift = shiftOverBytes(algorithm, size)));
    combined = multiply(algorithm, shift, combined) ^ BigInt(`0x${hex}`);
  }
  return combined.toString(16).padStart(bits / 4, "0");
}

/** x to the power of 8 * `bytes`, modulo the polynomial: what as many zero bytes do to a register. */
function shiftOverBytes(algorithm: CrcAlgorithm, bytes: number): bigint {
  const { bits } = polynomials[algorithm];
  // Reflected: the highest bit is the coefficient of 1.
  let power = 1n << BigInt(bits - 1);
  let square = 1n << BigInt(bits - 9);
  for (let rest = BigInt(bytes); rest > 0n; rest >>= 1n) {
    if (rest & 1n) power = multiply(algorithm, power, square);
    square = multiply(algorithm, square, square);
  }
  return power;
}

/** The product of two reflected polynomials, modulo the polynomial of the CRC. */
function multiply(algorithm: CrcAlgorithm, left: bigint, right: bigint): bigint {
  const { bits, reflected } = polynomials[algorithm];
  let product = 0n;
  let shifted = right;
  for (let bit = 1n << BigInt(bits - 1); bit > 0n; bit >>= 1n) {
    if (left & bit) product ^= shifted;
    shifted = shifted & 1n ? (shifted >> 1n) ^ reflected : shifted >> 1n;
  }
  return product;
}

function hexWord(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
