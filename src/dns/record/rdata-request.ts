/** The data of a record as the part of a request that holds it. */
import { decodeHex } from "../../base/hex.ts";
import { WireError } from "../wire/bytes.ts";
import type { Rdata, RdataRequest, RecordType } from "./record-type.ts";

export function rdataRequest(type: RecordType, rdata: Rdata): RdataRequest {
  const data = type.data(rdata);
  return {
    ...(data === null ? { content: type.content(rdata) } : { data }),
    ...(type.topLevelPriority && { priority: rdata["priority"] }),
  };
}

/**
 * Data in hexadecimal: the number of octets, then the octets (RFC 3597 section 5). Returns the
 * reason when the words are no such data.
 */
export function parseOctets(
  type: RecordType,
  [length, ...digits]: readonly string[],
): RdataRequest | string {
  const octets = decodeHex(digits.join(""));
  if (octets === null || length !== String(octets.length)) {
    return "the octets after \\# must be as many as their number says, in hexadecimal";
  }
  try {
    return rdataRequest(type, type.read(octets));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return `the octets are no data of a ${type.type} record`;
  }
}
