/**
 * The octets of a response, from an answer and the query. A message is composed once, at full size
 * and without identifier and OPT, so that the responder can keep it; `finish()` copies
 * it for one query, or composes a truncated message when the client takes less.
 */
import {
  headerBytes,
  messageBytesMax,
  MessageWriter,
  type Section,
} from "../wire/message-writer.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { tsigBytes } from "../wire/tsig.ts";
import type { Answer } from "./answer.ts";
import { optFixedBytes, type Query } from "./query.ts";

/** RFC 1035 section 4.2.1: the limit without EDNS. */
const udpBytesPlain = 512;
/** The largest UDP payload that is never fragmented: the IPv6 minimum MTU less headers (DNS flag day 2020). */
const udpPayloadBytesMax = 1232;

/** Bits of the third octet of a header. */
export const responseFlag = 0x80;
export const opcodeBits = 0x78;
const authoritativeFlag = 0x04;
const truncatedFlag = 0x02;
const recursionDesired = 0x01;
/** In the fourth octet; the response repeats it, as it repeats RD. */
const checkingDisabled = 0x10;
/** Bits of the flags of OPT. */
const dnssecOkFlag = 0x80;
const compactOkFlag = 0x40;

export class ResponseWriter {
  readonly #allocate: (length: number) => Uint8Array;
  readonly #message = new MessageWriter();

  constructor(allocate = (length: number): Uint8Array => new Uint8Array(length)) {
    this.#allocate = allocate;
  }

  /** A response of a header alone, for queries that cannot be read or have an unknown opcode. */
  headerOnly(query: Uint8Array, rcode: number): Uint8Array {
    const header = this.#allocate(headerBytes);
    header.fill(0);
    header[0] = query[0]!;
    header[1] = query[1]!;
    header[2] = responseFlag | (query[2]! & (opcodeBits | recursionDesired));
    header[3] = rcode;
    return header;
  }

  write(query: Query, answer: Answer): Uint8Array {
    return this.finish(query, answer, this.compose(query, answer));
  }

  /** A message without identifier and OPT. It is valid until the next call. */
  compose(query: Query, answer: Answer, bytesMax = messageBytesMax): Uint8Array {
    const writer = this.#message;
    writer.begin(bytesMax);
    if (query.questions === 1) writer.question(query.name, query.type, query.class);
    // The first set without room ends the message (RFC 2181 section 9).
    const isWhole =
      fits(writer, "answer", answer.answers) &&
      fits(writer, "authority", answer.authorities) &&
      fits(writer, "additional", answer.glue);
    if (isWhole) for (const set of answer.additionals) writer.recordSet("additional", set);
    writer.bytes[2] =
      (answer.authoritative ? authoritativeFlag : 0) | (isWhole ? 0 : truncatedFlag);
    writer.bytes[3] = answer.rcode & 0xf;
    return writer.bytes.subarray(0, writer.length);
  }

  /** Makes a composed message the response to a query. */
  finish(query: Query, answer: Answer, composed: Uint8Array): Uint8Array {
    const { bytes } = query;
    // RFC 6891 section 7: a query without OPT gets a response without OPT.
    const optBytes = query.hasEdns ? optFixedBytes : 0;
    const bytesMax = responseBytesMax(query) - optBytes;
    const message = composed.length <= bytesMax ? composed : this.compose(query, answer, bytesMax);
    const response = this.#allocate(message.length + optBytes);
    response.set(message);
    response[0] = bytes[0]!;
    response[1] = bytes[1]!;
    response[2]! |= responseFlag | (bytes[2]! & (opcodeBits | recursionDesired));
    response[3]! |= bytes[3]! & checkingDisabled;
    // RFC 4343 section 4.1: the case of the query, also for owners that point to the question.
    for (let at = headerBytes; at < query.end; at++) response[at] = bytes[at]!;
    if (query.hasEdns) writeOpt(response, message.length, query, answer.rcode);
    return response;
  }
}

function fits(writer: MessageWriter, section: Section, sets: readonly RecordSet[]): boolean {
  for (const set of sets) if (!writer.recordSet(section, set)) return false;
  return true;
}

/** The limit for a response, less the signature that a signed query gets. */
function responseBytesMax({ signature, source, hasEdns, udpBytesMax }: Query): number {
  const signatureBytes = signature === null ? 0 : tsigBytes(signature.key);
  if (source.transport !== "udp") return messageBytesMax - signatureBytes;
  if (!hasEdns) return udpBytesPlain - signatureBytes;
  return Math.max(udpBytesPlain, Math.min(udpBytesMax, udpPayloadBytesMax)) - signatureBytes;
}

/** Fills the last octets of a response with the size of this server, and DO and CO of the query. */
function writeOpt(response: Uint8Array, start: number, query: Query, rcode: number): void {
  response.fill(0, start);
  response[start + 2] = typeCodes.OPT;
  response[start + 3] = udpPayloadBytesMax >>> 8;
  response[start + 4] = udpPayloadBytesMax & 0xff;
  response[start + 5] = rcode >>> 4;
  response[start + 7] = (query.dnssecOk ? dnssecOkFlag : 0) | (query.compactOk ? compactOkFlag : 0);
  const additionals = ((response[10]! << 8) | response[11]!) + 1;
  response[10] = additionals >>> 8;
  response[11] = additionals & 0xff;
}
