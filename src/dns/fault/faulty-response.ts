/** Responses that faults make from the response that the server would have sent. */
import { blankMessage, decodeMessage, encodeMessage } from "../wire/message.ts";

interface Flags {
  readonly rcode: number;
  readonly truncated?: boolean;
  readonly authoritative?: boolean;
}

/** The largest message over TCP. A message without records is far smaller. */
const bytesMax = 65_535;

/**
 * The question and OPT without any record. OPT stays, as in every response to a query with OPT
 * (RFC 6891 section 7).
 *
 * @param base the ordinary response; for a transfer, which has many, the query
 */
export function withoutRecords(
  base: Uint8Array,
  { rcode, truncated = false, authoritative = false }: Flags,
): Uint8Array {
  const { id, questions, recursionDesired, checkingDisabled, edns } = decodeMessage(base);
  const response = {
    ...blankMessage,
    id,
    questions,
    recursionDesired,
    checkingDisabled,
    edns,
    response: true,
    authoritative,
    truncated,
    rcode,
  };
  return encodeMessage(response, { bytesMax });
}

/** The response with TC and without records: the client asks again over TCP. */
export function truncateResponse(response: Uint8Array): Uint8Array {
  const { rcode, authoritative } = decodeMessage(response);
  return withoutRecords(response, { rcode, authoritative, truncated: true });
}

/** Every bit of the identifier differs. */
export function withWrongId(response: Uint8Array): Uint8Array {
  const changed = response.slice();
  changed[0]! ^= 0xff;
  changed[1]! ^= 0xff;
  return changed;
}
