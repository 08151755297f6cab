import type { MessageWriter, Section } from "../wire/message-writer.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import type { Answer } from "./answer.ts";
import type { Query } from "./query.ts";

/** In the third octet of a header. */
const authoritativeFlag = 0x04;
const truncatedFlag = 0x02;

function fits(writer: MessageWriter, section: Section, sets: readonly RecordSet[]): boolean {
  for (const set of sets) if (!writer.recordSet(section, set)) return false;
  return true;
}

/** A message without an identifier and without OPT, in a buffer that is the writer's. */
export function writeAnswer(writer: MessageWriter, query: Query, answer: Answer): Uint8Array {
  if (query.questions === 1) writer.question(query.name, query.type, query.class);
  // Whatever comes after the first set that has no room is left out with it (RFC 2181 section 9).
  const isWhole =
    fits(writer, "answer", answer.answers) &&
    fits(writer, "authority", answer.authorities) &&
    fits(writer, "additional", answer.glue);
  if (isWhole) for (const set of answer.additionals) writer.recordSet("additional", set);
  writer.bytes[2] = (answer.authoritative ? authoritativeFlag : 0) | (isWhole ? 0 : truncatedFlag);
  writer.bytes[3] = answer.rcode & 0xf;
  return writer.bytes.subarray(0, writer.length);
}
