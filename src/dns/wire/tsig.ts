/** The TSIG pseudo-record (RFC 8945 section 4.2), always the last record of a message. */
import { classCodes, typeCodes } from "./numbers.ts";
import { Reader } from "./reader.ts";
import type { ResourceRecord } from "./resource-record.ts";
import { WireError } from "./bytes.ts";
import { Writer } from "./writer.ts";

export interface Tsig {
  readonly keyName: string;
  /** The name on the wire, e.g. hmac-sha256. */
  readonly algorithm: string;
  readonly timeSignedSeconds: number;
  readonly fudgeSeconds: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly other: Uint8Array;
}

/** TSIG times have 48 bits. */
export function writeTime(writer: Writer, seconds: number): void {
  writer.uint16(Math.floor(seconds / 2 ** 32) & 0xffff);
  writer.uint32(seconds % 2 ** 32);
}

export function decodeTsig(record: ResourceRecord): Tsig {
  if (record.class !== classCodes.ANY || record.ttlSeconds !== 0) {
    throw new WireError("TSIG has class ANY and TTL 0");
  }
  const reader = new Reader(record.data);
  const tsig = {
    keyName: record.name,
    algorithm: reader.name(),
    timeSignedSeconds: reader.uint16() * 2 ** 32 + reader.uint32(),
    fudgeSeconds: reader.uint16(),
    mac: reader.bytes(reader.uint16()),
    originalId: reader.uint16(),
    error: reader.uint16(),
    other: reader.bytes(reader.uint16()),
  };
  reader.expectEnd();
  return tsig;
}

/** Returns the whole record, without compressed names. */
export function encodeTsig(tsig: Tsig): Uint8Array {
  const data = new Writer();
  data.name(tsig.algorithm);
  writeTime(data, tsig.timeSignedSeconds);
  data.uint16(tsig.fudgeSeconds);
  data.sizedBytes(tsig.mac);
  data.uint16(tsig.originalId);
  data.uint16(tsig.error);
  data.sizedBytes(tsig.other);
  const writer = new Writer();
  writer.name(tsig.keyName);
  writer.uint16(typeCodes.TSIG);
  writer.uint16(classCodes.ANY);
  writer.uint32(0);
  writer.sizedBytes(data.finish());
  return writer.finish();
}
