/**
 * The order of records in a transfer, and their division into messages. A transfer is one long
 * answer section, cut wherever a message is full; its first and last record are the SOA.
 */
import type { Message } from "../wire/message.ts";
import type { ResourceRecord } from "../wire/resource-record.ts";
import { encodeName } from "../wire/name.ts";
import type { ZoneDelta } from "./journal.ts";

/** Messages that a secondary can take while we make the next one. RFC 5936 section 4 allows 64 KiB. */
const messageBytes = 16 * 1024;
/** Type, class, TTL and length (RFC 1035 section 3.2.1). */
const recordHeadBytes = 10;

/** RFC 5936 section 2.2: the SOA, everything else, the SOA. */
export function* wholeZone(
  soa: ResourceRecord,
  records: Iterable<ResourceRecord>,
): Generator<ResourceRecord> {
  yield soa;
  yield* records;
  yield soa;
}

/**
 * RFC 1995 section 4: the new SOA, and for each delta the old SOA with what it removed and the new
 * one with what it added; then the new SOA once more.
 */
export function* changedRecords(
  soa: ResourceRecord,
  deltas: readonly ZoneDelta[],
): Generator<ResourceRecord> {
  yield soa;
  for (const { soaBefore, removed, soaAfter, added } of deltas) {
    yield soaBefore;
    yield* removed;
    yield soaAfter;
    yield* added;
  }
  yield soa;
}

/** A query's transfer in messages. Only the first repeats the question (RFC 5936 section 2.2.1). */
export function* transferMessages(
  query: Message,
  records: Iterable<ResourceRecord>,
): Generator<Message> {
  let { questions } = query;
  let answers: ResourceRecord[] = [];
  let bytes = 0;
  const message = (): Message => ({
    ...query,
    response: true,
    authoritative: true,
    truncated: false,
    recursionAvailable: false,
    authenticData: false,
    rcode: 0,
    questions,
    answers,
    authorities: [],
    additionals: [],
    // Once at the beginning is enough, and nothing in it concerns a stream.
    edns: null,
    tsig: null,
  });
  for (const record of records) {
    const length = encodeName(record.name).length + recordHeadBytes + record.data.length;
    if (answers.length > 0 && bytes + length > messageBytes) {
      yield message();
      [questions, answers, bytes] = [[], [], 0];
    }
    answers.push(record);
    bytes += length;
  }
  yield message();
}
