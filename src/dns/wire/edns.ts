/** EDNS(0): the OPT pseudo-record (RFC 6891 section 6.1). */
import { typeCodes } from "./numbers.ts";
import { Reader } from "./reader.ts";
import type { ResourceRecord } from "./resource-record.ts";
import { WireError } from "./bytes.ts";
import { Writer } from "./writer.ts";

const dnssecOkFlag = 0x8000;
const compactOkFlag = 0x4000;

interface EdnsOption {
  readonly code: number;
  readonly data: Uint8Array;
}

export interface Edns {
  /** The largest UDP payload that the sender accepts. */
  readonly udpBytesMax: number;
  readonly version: number;
  /** The DO bit (RFC 3225). */
  readonly dnssecOk: boolean;
  /** The CO bit (RFC 9824 section 5.1). */
  readonly compactOk?: boolean;
  readonly options: readonly EdnsOption[];
}

/** OPT has its fields in the places of class and TTL. */
export function decodeOpt(record: ResourceRecord): { edns: Edns; extendedRcode: number } {
  const { ttlSeconds: fields } = record;
  if (record.name !== ".") throw new WireError("The owner of OPT is not the root");
  const options: EdnsOption[] = [];
  const reader = new Reader(record.data);
  while (reader.remaining > 0) {
    const code = reader.uint16();
    options.push({ code, data: reader.bytes(reader.uint16()) });
  }
  const edns = {
    udpBytesMax: record.class,
    version: (fields >>> 16) & 0xff,
    dnssecOk: (fields & dnssecOkFlag) !== 0,
    ...((fields & compactOkFlag) !== 0 && { compactOk: true }),
    options,
  };
  return { edns, extendedRcode: fields >>> 24 };
}

/** Returns the whole record, owner included. */
export function encodeOpt(edns: Edns, rcode: number): Uint8Array {
  const writer = new Writer();
  writer.uint8(0);
  writer.uint16(typeCodes.OPT);
  writer.uint16(edns.udpBytesMax);
  writer.uint8(rcode >>> 4);
  writer.uint8(edns.version);
  writer.uint16((edns.dnssecOk ? dnssecOkFlag : 0) | (edns.compactOk === true ? compactOkFlag : 0));
  writer.uint16(edns.options.reduce((sum, { data }) => sum + 4 + data.length, 0));
  for (const { code, data } of edns.options) {
    writer.uint16(code);
    writer.sizedBytes(data);
  }
  return writer.finish();
}
