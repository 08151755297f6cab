/** The TSIG pseudo-record (RFC 8945 section 4.2), always the last of a message. */
import { classCodes, typeCodes } from "./numbers.ts";
import { Reader } from "./reader.ts";
import { WireError } from "./wire-error.ts";
import { Writer } from "./writer.ts";

export interface Tsig {
  readonly keyName: string;
  /** As on the wire: hmac-sha256. */
  readonly algorithm: string;
  readonly timeSignedSeconds: number;
  readonly fudgeSeconds: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly other: Uint8Array;
}

/** Forty-eight bits. */
export function writeTime(writer: Writer, seconds: number): void {
  writer.uint16(Math.floor(seconds / 2 ** 32) & 0xffff);
  writer.uint32(seconds % 2 ** 32);
}

export interface TsigFields {
  readonly owner: string;
  readonly class: number;
  readonly ttl: number;
  readonly data: Uint8Array;
}

export function decodeTsig(fields: TsigFields): Tsig {
  if (fields.class !== classCodes.ANY || fields.ttl !== 0) {
    throw new WireError("TSIG has class ANY and TTL 0");
  }
  const reader = new Reader(fields.data);
  const algorithm = reader.name();
  const timeSignedSeconds = reader.uint16() * 2 ** 32 + reader.uint32();
  const fudgeSeconds = reader.uint16();
  const mac = reader.bytes(reader.uint16());
  const originalId = reader.uint16();
  const error = reader.uint16();
  const other = reader.bytes(reader.uint16());
  reader.expectEnd();
  return {
    keyName: fields.owner,
    algorithm,
    timeSignedSeconds,
    fudgeSeconds,
    mac,
    originalId,
    error,
    other,
  };
}

/** The whole record; no name in it is compressed. */
export function encodeTsig(tsig: Tsig): Uint8Array {
  const data = new Writer();
  data.name(tsig.algorithm);
  writeTime(data, tsig.timeSignedSeconds);
  data.uint16(tsig.fudgeSeconds);
  data.uint16(tsig.mac.length);
  data.bytes(tsig.mac);
  data.uint16(tsig.originalId);
  data.uint16(tsig.error);
  data.uint16(tsig.other.length);
  data.bytes(tsig.other);
  const writer = new Writer();
  writer.name(tsig.keyName);
  writer.uint16(typeCodes.TSIG);
  writer.uint16(classCodes.ANY);
  writer.uint32(0);
  writer.uint16(data.length);
  writer.bytes(data.finish());
  return writer.finish();
}
