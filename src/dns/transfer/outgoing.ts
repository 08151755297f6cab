/**
 * A transfer that was asked for: which records it is made of, and its messages in octets, each
 * signed when the query was. (RFC 5936 for the whole zone, RFC 1995 for what has changed.)
 */
import { encodeMessage, type Message } from "../wire/message.ts";
import { typeCodes } from "../wire/numbers.ts";
import { Reader } from "../wire/reader.ts";
import { signMessage, tsigBytes, type Hmac } from "../wire/tsig-mac.ts";
import type { Signer } from "../answer/responder.ts";
import { changedRecords, transferMessages, wholeZone } from "./sequence.ts";
import type { TransferredZone } from "./transferred-zone.ts";

const messageBytesMax = 65_535;

export interface Signature extends Signer {
  readonly hmac: Hmac;
  readonly nowSeconds: number;
}

/** The serial that an IXFR query says it has, in the SOA of its authority section. */
function askedSerial({ authorities }: Message): number | null {
  const soa = authorities.find(({ type }) => type === typeCodes.SOA);
  if (soa === undefined) return null;
  const reader = new Reader(soa.data);
  reader.name();
  reader.name();
  return reader.uint32();
}

function* records(query: Message, zone: TransferredZone) {
  const serial = query.questions[0]?.type === typeCodes.IXFR ? askedSerial(query) : null;
  if (serial === zone.serial) {
    // RFC 1995 section 2: nothing newer is said by the SOA alone.
    yield zone.soa;
    return;
  }
  const deltas = serial === null ? null : zone.since(serial);
  // A list: the zone may change while a slow secondary takes one message after the other.
  if (deltas === null) yield* wholeZone(zone.soa, [...zone.records()]);
  else yield* changedRecords(zone.soa, deltas);
}

/** Throws WireError when the SOA of the query is none. */
export function* transferOctets(
  query: Message,
  zone: TransferredZone,
  signature: Signature | null,
): Generator<Uint8Array> {
  const reserved = signature === null ? 0 : tsigBytes(signature.key);
  let priorMac = signature?.mac;
  let timersOnly = false;
  for (const message of transferMessages(query, records(query, zone))) {
    const bytes = encodeMessage(message, { bytesMax: messageBytesMax - reserved });
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
