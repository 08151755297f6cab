/** What a fault makes of a response: octets to octets. */
import { decodeHex } from "../../base/hex.ts";
import { typeCode } from "../record/presentation.ts";
import { concatBytes } from "../wire/bytes.ts";
import { blankMessage, decodeMessage, encodeMessage, type Message } from "../wire/message.ts";
import { formatName } from "../wire/name.ts";
import { classCodes, rcodes } from "../wire/numbers.ts";
import type { RecordSet, ResourceRecord } from "../wire/resource-record.ts";
import type { FaultTarget, QueryFaultKind } from "./query-fault.ts";

interface FaultyResponseOptions {
  /** The response that the server would have given, or the query: both have the question and OPT. */
  readonly base: Uint8Array;
  /** Of the zone that has the name, for negative answers; `null` when no zone has it. */
  readonly soa: RecordSet | null;
  /** The largest response that the client accepts. */
  readonly bytesMax: number;
}

/** As the automatic TTL of the API. */
const answerTtlSeconds = 300;

type MakeResponse = (options: FaultyResponseOptions, fault: FaultTarget) => Uint8Array;

const error =
  (rcode: number): MakeResponse =>
  ({ base }) =>
    withoutRecords(base, { rcode });

const denial =
  (rcode: number): MakeResponse =>
  ({ base, soa }) => {
    const authorities = soa === null ? [] : recordsOf(soa);
    return withoutRecords(base, { rcode, authoritative: true, authorities });
  };

const makers: Partial<Record<QueryFaultKind, MakeResponse>> = {
  servfail: error(rcodes.SERVFAIL),
  refused: error(rcodes.REFUSED),
  formerr: error(rcodes.FORMERR),
  notimp: error(rcodes.NOTIMP),
  lame: error(rcodes.NOERROR),
  nxdomain: denial(rcodes.NXDOMAIN),
  nodata: denial(rcodes.NOERROR),
  no_edns: ({ base }) => withoutRecords(base, { rcode: rcodes.FORMERR, edns: null }),
  answer: withOtherRecords,
  ttl: ({ base }, { ttlSeconds }) => withTtl(base, ttlSeconds!),
  malformed: ({ base }) => malformed(base),
  truncate({ base }) {
    const { rcode, authoritative } = decodeMessage(base);
    return withoutRecords(base, { rcode, authoritative, truncated: true });
  },
  wrong_id: ({ base }) => withWrongId(base),
};

/** Faults that leave the response as it is get it back. */
export function makeFaulty(fault: FaultTarget, options: FaultyResponseOptions): Uint8Array {
  return makers[fault.kind]?.(options, fault) ?? options.base;
}

/**
 * The question and OPT without any record. OPT stays, as in every response to a query with OPT
 * (RFC 6891 section 7).
 */
function withoutRecords(base: Uint8Array, changes: Partial<Message>): Uint8Array {
  const { id, questions, recursionDesired, checkingDisabled, edns } = decodeMessage(base);
  const kept = { id, questions, recursionDesired, checkingDisabled, edns };
  return encodeMessage({ ...blankMessage, ...kept, response: true, ...changes });
}

function recordsOf({ owner, type, ttlSeconds, data }: RecordSet): ResourceRecord[] {
  const name = formatName(owner);
  return data.map((octets) => ({ name, type, class: classCodes.IN, ttlSeconds, data: octets }));
}

/** The records have no signatures, so a validator refuses them in a signed zone. */
function withOtherRecords(
  { base, bytesMax }: FaultyResponseOptions,
  { types, data, ttlSeconds }: FaultTarget,
): Uint8Array {
  const { questions } = decodeMessage(base);
  const answers = data.map((digits) => ({
    name: questions[0]!.name,
    type: typeCode(types![0]!)!,
    class: classCodes.IN,
    ttlSeconds: ttlSeconds ?? answerTtlSeconds,
    data: decodeHex(digits)!,
  }));
  const response = withoutRecords(base, { authoritative: true, answers });
  if (response.length <= bytesMax) return response;
  return withoutRecords(base, { authoritative: true, truncated: true });
}

/** The change breaks the signature of a transaction (TSIG), so there is none. */
function withTtl(base: Uint8Array, ttlSeconds: number): Uint8Array {
  const message = decodeMessage(base);
  const change = (records: readonly ResourceRecord[]): ResourceRecord[] =>
    records.map((record) => ({ ...record, ttlSeconds }));
  return encodeMessage({
    ...message,
    answers: change(message.answers),
    authorities: change(message.authorities),
    additionals: change(message.additionals),
    tsig: null,
  });
}

/** Type A, class IN, a TTL, and an address. */
const addressRecord = [0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];

/**
 * The header and the question are right, so that the client takes the octets for the response. The
 * owner of the only record is a compression pointer to itself (RFC 1035 section 4.1.4).
 */
function malformed(base: Uint8Array): Uint8Array {
  const head = withoutRecords(base, { authoritative: true, edns: null });
  const loop = [0xc0 | (head.length >>> 8), head.length & 0xff];
  // The count of answers.
  head[7] = 1;
  return concatBytes([head, Uint8Array.from([...loop, ...addressRecord])]);
}

/** Every bit of the identifier differs. */
function withWrongId(response: Uint8Array): Uint8Array {
  const changed = response.slice();
  changed[0]! ^= 0xff;
  changed[1]! ^= 0xff;
  return changed;
}
