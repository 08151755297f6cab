/** Responses that faults make, as octets. */
import type { Query } from "../answer/query.ts";
import { headerBytes } from "../wire/message-writer.ts";
import { typeCodes } from "../wire/numbers.ts";

interface Flags {
  readonly rcode: number;
  readonly truncated?: boolean;
  readonly authoritative?: boolean;
}

const responseBit = 0x80;
const authoritativeBit = 0x04;
const truncatedBit = 0x02;
/** OPCODE and RD of the query return in the response (RFC 1035 section 4.1.1). */
const repeatedBits = 0x79;
/** The type and the class after the name of the question */
const questionTailBytes = 4;

/** A response with the question and, for a query with EDNS, OPT (RFC 6891 section 6.1.1). */
export function emptyResponse(
  query: Query,
  { rcode, truncated, authoritative }: Flags,
): Uint8Array {
  const { bytes, end } = query;
  const opt = query.hasEdns ? [0, 0, typeCodes.OPT, 0x04, 0xd0, 0, 0, doBit(query), 0, 0, 0] : [];
  const questionEnd = end + questionTailBytes;
  const response = new Uint8Array(questionEnd + opt.length);
  response.set(bytes.subarray(0, questionEnd));
  response[2] =
    responseBit |
    (bytes[2]! & repeatedBits) |
    (authoritative === true ? authoritativeBit : 0) |
    (truncated === true ? truncatedBit : 0);
  response[3] = rcode;
  response.fill(0, 4, headerBytes);
  response[5] = 1;
  if (query.hasEdns) response[headerBytes - 1] = 1;
  response.set(opt, questionEnd);
  return response;
}

/** RFC 3225 section 3: the response repeats DO. */
function doBit({ dnssecOk }: Query): number {
  return dnssecOk ? 0x80 : 0;
}

/** The response without its records, and with TC: the client asks again over TCP. */
export function truncatedResponse(query: Query, response: Uint8Array): Uint8Array {
  const rcode = response[3]! & 0x0f;
  const authoritative = (response[2]! & authoritativeBit) !== 0;
  return emptyResponse(query, { rcode, authoritative, truncated: true });
}

/** Every bit of the identifier differs. */
export function withWrongId(response: Uint8Array): Uint8Array {
  const changed = response.slice();
  changed[0]! ^= 0xff;
  changed[1]! ^= 0xff;
  return changed;
}
