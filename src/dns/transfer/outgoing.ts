/**
 * An outgoing transfer: its records in order, their division into messages, and the octets of each
 * message, signed when the query was. RFC 5936 defines transfers of the whole zone, RFC 1995 those
 * of changes. A transfer is one long answer section that begins and ends with the SOA.
 */
import type { QuerySignature } from "../answer/query.ts";
import { blankMessage, encodeMessage, type Message } from "../wire/message.ts";
import { isLaterSerial, typeCodes } from "../wire/numbers.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { signMessage, type Hmac } from "../wire/tsig.ts";
import { soaSerial } from "./incoming.ts";
import type { TransferredZone } from "./transferred-zone.ts";

/** A secondary reads a message while the next is made. RFC 5936 section 4 allows 64 KiB. */
const messageBytesTarget = 16 * 1024;
/** Type, class, TTL and length (RFC 1035 section 3.2.1). */
const recordHeadBytes = 10;

export interface TransferSignature extends QuerySignature {
  readonly hmac: Hmac;
  readonly nowSeconds: number;
}

/**
 * A whole zone is the SOA, every other record, and the SOA again (RFC 5936 section 2.2). In place of
 * the records, an incremental transfer has for each delta the SOA before it with the removed records
 * and the SOA after it with the added records (RFC 1995 section 4).
 */
function* transferRecords(query: Message, zone: TransferredZone): Generator<ResourceRecord> {
  const { soa } = zone;
  yield soa;
  const serial = requestedSerial(query);
  // RFC 1995 section 2: the SOA alone says that the server has nothing newer.
  if (serial === zone.serial || (serial !== null && isLaterSerial(serial, zone.serial))) return;
  const deltas = serial === null ? null : zone.since(serial);
  // A copy, because the zone can change while a slow secondary takes the messages.
  const records = deltas === null ? [...zone.records()] : [];
  yield* records;
  for (const { soaBefore, removed, soaAfter, added } of deltas ?? []) {
    yield soaBefore;
    yield* removed;
    yield soaAfter;
    yield* added;
  }
  yield soa;
}

/**
 * The serial of the secondary, which IXFR has in an SOA in the authority section; `null` for AXFR.
 * Throws WireError when the SOA is malformed.
 */
export function requestedSerial({ questions, authorities }: Message): number | null {
  if (questions[0]?.type !== typeCodes.IXFR) return null;
  const soa = authorities.find(({ type }) => type === typeCodes.SOA);
  return soa === undefined ? null : soaSerial(soa);
}

/** Only the first message repeats the question (RFC 5936 section 2.2.1). */
function* transferMessages(query: Message, records: Iterable<ResourceRecord>): Generator<Message> {
  let { questions } = query;
  let answers: ResourceRecord[] = [];
  let bytes = 0;
  const { id, opcode, recursionDesired, checkingDisabled } = query;
  const head = { ...blankMessage, id, opcode, recursionDesired, checkingDisabled };
  const message = (): Message => {
    return { ...head, response: true, authoritative: true, questions, answers };
  };
  for (const record of records) {
    // Text with escapes is longer than the octets, which have a length in the place of each dot.
    const nameBytes = record.name.length + 2;
    const length = nameBytes + recordHeadBytes + record.data.length;
    if (answers.length > 0 && bytes + length > messageBytesTarget) {
      yield message();
      [questions, answers, bytes] = [[], [], 0];
    }
    answers.push(record);
    bytes += length;
  }
  yield message();
}

/** Throws WireError when the SOA of an IXFR query is malformed. */
export function* transferOctets(
  query: Message,
  zone: TransferredZone,
  signature: TransferSignature | null,
): Generator<Uint8Array> {
  let priorMac = signature?.mac;
  let timersOnly = false;
  for (const message of transferMessages(query, transferRecords(query, zone))) {
    const bytes = encodeMessage(message);
    if (signature === null || priorMac === undefined) {
      yield bytes;
      continue;
    }
    const { key, hmac, nowSeconds } = signature;
    const signed = signMessage(bytes, { key, hmac, nowSeconds, priorMac, timersOnly });
    yield signed.bytes;
    [priorMac, timersOnly] = [signed.mac, true];
  }
}
