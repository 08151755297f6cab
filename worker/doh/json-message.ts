/**
 * A DNS message in the JSON format of the deployed service: numbers for types and status, names
 * without the final dot, data in presentation format.
 */
import { encodeHex } from "../../src/base/hex.ts";
import type { Message } from "../../src/dns/wire/message.ts";
import type { ResourceRecord } from "../../src/dns/wire/resource-record.ts";
import { recordTypes } from "../../src/dns/record/registry.ts";

const typeByCode = new Map([...recordTypes.values()].map((type) => [type.code, type]));

export function describeMessage(message: Message): Record<string, unknown> {
  const { answers, authorities, questions } = message;
  return {
    Status: message.rcode,
    TC: message.truncated,
    RD: message.recursionDesired,
    RA: message.recursionAvailable,
    AD: message.authenticData,
    CD: message.checkingDisabled,
    Question: questions.map(({ name, type }) => ({ name, type })),
    ...(answers.length > 0 && { Answer: answers.map(describeRecord) }),
    ...(authorities.length > 0 && { Authority: authorities.map(describeRecord) }),
  };
}

function describeRecord({ name, type, ttlSeconds, data }: ResourceRecord) {
  return { name, type, TTL: ttlSeconds, data: describeData(type, data) };
}

/** Data of an unknown type is written as in RFC 3597 section 5. */
function describeData(code: number, data: Uint8Array): string {
  const type = typeByCode.get(code);
  if (type === undefined) return `\\# ${data.length} ${encodeHex(data)}`;
  return type.compose(type.read(data));
}
