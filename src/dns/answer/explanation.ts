/** Why an answer is as it is: the rules that `answer()` applied, in order, and their sentences. */
import { keyOctets, type NameKey, formatName } from "../wire/name.ts";

/** `{name}` stands for the name that the rule was applied to. */
const sentences = {
  "other-class": "the class is not IN",
  "no-zone": "no zone of this server contains {name}",
  zone: "the zone is {name}",
  delegated: "{name} is delegated: the answer refers to its name servers",
  "parent-side": "DS records at the delegation of {name} are the parent's",
  exact: "{name} has records of this type",
  wildcard: "the name does not exist, and the wildcard {name} covers it",
  alias: "{name} is a CNAME: the answer continues at its target",
  "alias-leaves": "{name} is in no zone of this server: the client looks it up",
  "alias-loops": "the chain of CNAMEs ends at {name}: the chain is a loop or too long",
  flattened: "the CNAME of {name} is flattened: the answer has the addresses of its target",
  "external-answer": "a resolver gave the addresses of {name}",
  "external-failed": "a resolver could not give the addresses of {name}",
  proxied: "{name} is proxied: the answer has the platform's addresses",
  "https-made": "{name} is proxied: its HTTPS record is generated",
  "any-minimal": "ANY is answered with one HINFO record (RFC 8482)",
  "empty-non-terminal": "{name} has no records, only names below it",
  "no-data": "{name} has no records of this type",
  "no-name": "{name} does not exist",
  signed: "{name} is signed: the answer has the signatures of its sets",
  "compact-denial": "an NSEC record says that {name} does not exist, with NOERROR (RFC 9824)",
} as const;

export type RuleName = keyof typeof sentences;

export interface AppliedRule {
  readonly rule: RuleName;
  readonly key: NameKey;
}

/** The name that the rule was applied to. */
export function subjectOf({ key }: AppliedRule): string {
  return formatName(keyOctets(key));
}

export function explainRule(applied: AppliedRule): string {
  return sentences[applied.rule].replace("{name}", () => subjectOf(applied));
}
