/**
 * A DNS message (RFC 1035 section 4) as plain data. Names are text in presentation form without the
 * final dot; the root is ".". Record data has no compressed names, so that it is valid outside of
 * its message. OPT and TSIG belong to the message and not to a zone: `edns` and `tsig` hold them.
 */
import { concatBytes, WireError } from "./bytes.ts";
import { messageBytesMax, MessageWriter, type Section } from "./message-writer.ts";
import { encodeName } from "./name.ts";
import { classCodes, opcodes, rcodes, typeCodes } from "./numbers.ts";
import { Reader, Writer } from "./octets.ts";
import { expandData, type ResourceRecord } from "./resource-record.ts";

/** EDNS(0): the OPT pseudo-record (RFC 6891 section 6.1). */
interface Edns {
  /** The largest UDP payload that the sender accepts. */
  readonly udpBytesMax: number;
  readonly version: number;
  readonly dnssecOk: boolean;
  /** The CO bit (RFC 9824 section 5.1). */
  readonly compactOk: boolean;
  readonly options: readonly { readonly code: number; readonly data: Uint8Array }[];
}

/** The TSIG pseudo-record (RFC 8945 section 4.2), always the last record of a message. */
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

const flagBits = {
  /** QR */
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
  recursionAvailable: 0x0080,
  authenticData: 0x0020,
  checkingDisabled: 0x0010,
} as const;
type Flags = Readonly<Record<keyof typeof flagBits, boolean>>;

function readFlags(flags: number): Flags {
  const entries = Object.entries(flagBits).map(([name, bit]) => [name, (flags & bit) !== 0]);
  return Object.fromEntries(entries) as Flags;
}

export interface Message extends Flags {
  readonly id: number;
  readonly opcode: number;
  /** All 12 bits; the upper 8 come from OPT (RFC 6891 section 6.1.3). */
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** Without OPT and TSIG. */
  readonly additionals: readonly ResourceRecord[];
  readonly edns: Edns | null;
  readonly tsig: Tsig | null;
}

type Question = ReturnType<typeof readQuestion>;

export const blankMessage: Message = {
  ...readFlags(0),
  id: 0,
  opcode: opcodes.QUERY,
  rcode: rcodes.NOERROR,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
  edns: null,
  tsig: null,
};

function readQuestion(reader: Reader) {
  return { name: reader.name(), type: reader.uint16(), class: reader.uint16() };
}

function readRecord(reader: Reader, bytes: Uint8Array): ResourceRecord {
  const name = reader.name();
  const type = reader.uint16();
  const recordClass = reader.uint16();
  const ttlSeconds = reader.uint32();
  const length = reader.uint16();
  const start = reader.offset;
  reader.skip(length);
  const data = expandData(type, bytes, start, start + length);
  return { name, type, class: recordClass, ttlSeconds, data };
}

function isPseudo({ type }: ResourceRecord): boolean {
  return type === typeCodes.OPT || type === typeCodes.TSIG;
}

/**
 * Throws no error but WireError; octets after the last record are an error. `tsigOffset` is the
 * start of the TSIG record, which signs the octets before it.
 */
export function parseMessage(bytes: Uint8Array): {
  readonly message: Message;
  readonly tsigOffset: number | null;
} {
  if (bytes.length > messageBytesMax) throw new WireError("A message is longer than 65535 octets");
  const reader = new Reader(bytes);
  const id = reader.uint16();
  const flags = reader.uint16();
  const counts = [reader.uint16(), reader.uint16(), reader.uint16(), reader.uint16()] as const;
  const questions: Question[] = [];
  const sections: [ResourceRecord[], ResourceRecord[], ResourceRecord[]] = [[], [], []];
  let lastOffset = 0;
  for (let count = 0; count < counts[0]; count++) questions.push(readQuestion(reader));
  for (const [index, section] of sections.entries()) {
    for (let count = 0; count < counts[index + 1]!; count++) {
      lastOffset = reader.offset;
      section.push(readRecord(reader, bytes));
    }
  }
  reader.expectEnd();
  const [answers, authorities, rest] = sections;
  if (answers.some(isPseudo) || authorities.some(isPseudo)) {
    throw new WireError("OPT and TSIG belong in the additional section");
  }
  const opts = rest.filter(({ type }) => type === typeCodes.OPT);
  if (opts.length > 1) throw new WireError("There is more than one OPT");
  const opt = opts[0] === undefined ? null : decodeOpt(opts[0]);
  const last = rest.at(-1);
  const tsig = last?.type === typeCodes.TSIG ? last : null;
  if (rest.some((record) => record.type === typeCodes.TSIG && record !== tsig)) {
    throw new WireError("TSIG is not the last record");
  }
  const message: Message = {
    id,
    opcode: (flags >>> 11) & 0xf,
    ...readFlags(flags),
    rcode: ((opt?.extendedRcode ?? 0) << 4) | (flags & 0xf),
    questions,
    answers,
    authorities,
    additionals: rest.filter((record) => !isPseudo(record)),
    edns: opt?.edns ?? null,
    tsig: tsig === null ? null : decodeTsig(tsig),
  };
  return { message, tsigOffset: tsig === null ? null : lastOffset };
}

/** Throws no error but WireError. */
export function decodeMessage(bytes: Uint8Array): Message {
  return parseMessage(bytes).message;
}

function composeFlags(message: Message): number {
  let flags = ((message.opcode & 0xf) << 11) | (message.rcode & 0xf);
  for (const [name, bit] of Object.entries(flagBits)) {
    if (message[name as keyof Flags]) flags |= bit;
  }
  return flags;
}

/** One buffer for all messages: encoding is synchronous. */
const messageWriter = new MessageWriter();

/** Throws WireError when the message is longer than 65535 octets. */
export function encodeMessage(message: Message): Uint8Array {
  if (message.rcode > 0xf && message.edns === null) {
    throw new WireError("An extended RCODE needs EDNS");
  }
  const writer = messageWriter;
  writer.begin();
  let fits = true;
  for (const { name, type, class: questionClass } of message.questions) {
    fits &&= writer.question(encodeName(name), type, questionClass);
  }
  const { answers: answer, authorities: authority, additionals: additional } = message;
  for (const [section, records] of Object.entries({ answer, authority, additional })) {
    for (const { name, data, class: recordClass, ...rest } of records) {
      const set = { ...rest, owner: encodeName(name), data: [data] };
      fits &&= writer.recordSet(section as Section, set, recordClass);
    }
  }
  if (message.edns !== null) fits &&= writer.rawRecord(encodeOpt(message.edns, message.rcode));
  if (message.tsig !== null) fits &&= writer.rawRecord(encodeTsig(message.tsig));
  if (!fits) throw new WireError("A message is longer than 65535 octets");
  writer.id(message.id);
  writer.flags(composeFlags(message));
  return writer.bytes.slice(0, writer.length);
}

const dnssecOkFlag = 0x8000;
const compactOkFlag = 0x4000;

/** OPT has its fields in the places of class and TTL. */
function decodeOpt(record: ResourceRecord): { edns: Edns; extendedRcode: number } {
  const { ttlSeconds: fields } = record;
  if (record.name !== ".") throw new WireError("The owner of OPT is not the root");
  const options: Edns["options"][number][] = [];
  const reader = new Reader(record.data);
  while (reader.remaining > 0) {
    const code = reader.uint16();
    options.push({ code, data: reader.bytes(reader.uint16()) });
  }
  const edns = {
    udpBytesMax: record.class,
    version: (fields >>> 16) & 0xff,
    dnssecOk: (fields & dnssecOkFlag) !== 0,
    compactOk: (fields & compactOkFlag) !== 0,
    options,
  };
  return { edns, extendedRcode: fields >>> 24 };
}

function encodeOpt(edns: Edns, rcode: number): Uint8Array {
  const writer = new Writer();
  writer.uint8(0);
  writer.uint16(typeCodes.OPT);
  writer.uint16(edns.udpBytesMax);
  writer.uint8(rcode >>> 4);
  writer.uint8(edns.version);
  writer.uint16((edns.dnssecOk ? dnssecOkFlag : 0) | (edns.compactOk ? compactOkFlag : 0));
  writer.uint16(edns.options.reduce((sum, { data }) => sum + 4 + data.length, 0));
  for (const { code, data } of edns.options) {
    writer.uint16(code);
    writer.sizedBytes(data);
  }
  return writer.finish();
}

/** TSIG times have 48 bits. */
export function writeTime(writer: Writer, seconds: number): void {
  writer.uint16(Math.floor(seconds / 2 ** 32) & 0xffff);
  writer.uint32(seconds % 2 ** 32);
}

function decodeTsig(record: ResourceRecord): Tsig {
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

/**
 * Messages in a TCP stream, each after a length of two octets (RFC 1035 section 4.2.2). The stream
 * arrives in pieces of any size.
 */
export class Frames {
  /** The end of the stream so far, which is no whole message. */
  #rest = new Uint8Array();

  /** The messages that this piece completes; they may share memory with the piece. */
  *push(piece: Uint8Array): Generator<Uint8Array, void> {
    const stream = this.#rest.length === 0 ? piece : concatBytes([this.#rest, piece]);
    let at = 0;
    for (;;) {
      const end = at + 2 + ((stream[at]! << 8) | stream[at + 1]!);
      if (stream.length - at < 2 || end > stream.length) break;
      yield stream.subarray(at + 2, end);
      at = end;
    }
    this.#rest = new Uint8Array(stream.subarray(at));
  }
}

export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(message.length + 2);
  framed[0] = message.length >>> 8;
  framed[1] = message.length & 0xff;
  framed.set(message, 2);
  return framed;
}
