/**
 * A DNS message in the JSON format of the deployed service: numbers for types and status, names
 * without the final dot, data in presentation format.
 */
import type { Message } from "../../src/dns/wire/message.ts";
import type { ResourceRecord } from "../../src/dns/wire/resource-record.ts";
import { formatData } from "../../src/dns/record/presentation.ts";

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
  return { name, type, TTL: ttlSeconds, data: formatData(type, data) };
}
