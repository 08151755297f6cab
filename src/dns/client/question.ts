/** A question in the words of a person: a name or an address, and a type. */
import { isIP } from "node:net";
import { nearest } from "../../base/nearest.ts";
import { UserError } from "../../base/user-error.ts";
import { parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { toAsciiName } from "../record/record-name.ts";
import { recordTypes } from "../record/types.ts";
import { WireError } from "../wire/bytes.ts";
import { encodeName } from "../wire/name.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { AskedQuestion } from "./ask-server.ts";
import { codeOfType, otherTypeNames } from "./type-names.ts";

/** The words are no question. */
export class QuestionError extends UserError {}

/**
 * @param nameWord a full name, or an IP address for a reverse lookup
 * @param typeWord a type, or TYPE followed by its number; by default A, or PTR for an address
 * @throws QuestionError
 */
export function parseQuestion(nameWord: string, typeWord: string | undefined): AskedQuestion {
  const isAddress = isIP(nameWord) !== 0 && typeWord === undefined;
  const name = isAddress ? reverseName(nameWord) : toAsciiName(nameWord).replace(/(?!^)\.$/, "");
  const type = isAddress ? typeCodes.PTR : parseQueryType(typeWord ?? "A");
  try {
    encodeName(name);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new QuestionError(`"${nameWord}" is not a domain name: ${error.message}.`);
  }
  return { name, type };
}

function parseQueryType(word: string): number {
  const code = codeOfType(word);
  if (code !== null && code > 0) return code;
  const guess = nearest(word.toUpperCase(), [...recordTypes.keys(), ...otherTypeNames, "ANY"]);
  throw new QuestionError(
    `There is no record type "${word}". ` +
      (guess === null ? "TYPE followed by a number names any type." : `Did you mean ${guess}?`),
  );
}

/** RFC 1035 section 3.5 and RFC 3596 section 2.5. */
function reverseName(address: string): string {
  const ipv4 = parseIpv4(address);
  if (ipv4 !== null) return `${[...ipv4].toReversed().join(".")}.in-addr.arpa`;
  const digits = Buffer.from(parseIpv6(address) ?? []).toString("hex");
  return `${Array.from(digits).toReversed().join(".")}.ip6.arpa`;
}
