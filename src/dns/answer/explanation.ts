/** The rules by which an answer came about, in the order in which they were applied. */
import type { NameKey } from "../wire/name-key.ts";
import { formatName } from "../wire/name.ts";

const sentences = {
  "other-class": () => "the class is not IN",
  "no-zone": (name: string) => `no zone here encloses ${name}`,
  zone: (name: string) => `the zone is ${name}`,
  delegated: (name: string) => `${name} is delegated: its servers are named in place of an answer`,
  "parent-side": (name: string) => `DS belongs to the parent's side of the cut at ${name}`,
  exact: (name: string) => `${name} has such records`,
  wildcard: (name: string) => `no such name exists, and ${name} covers it`,
  alias: (name: string) => `${name} is a CNAME, and the answer goes on at its target`,
  "alias-leaves": (name: string) => `${name} is in no zone here: whoever asks has to follow`,
  "alias-loops": (name: string) => `${name} was met before: the chain of CNAMEs ends`,
  flattened: (name: string) =>
    `the CNAME of ${name} is flattened: its target's addresses stand for it`,
  "outside-answer": (name: string) => `a resolver was asked for the addresses of ${name}`,
  "outside-failed": (name: string) => `a resolver could not give the addresses of ${name}`,
  proxied: (name: string) => `${name} is proxied: the platform's addresses stand for its own`,
  "https-made": (name: string) => `${name} is proxied: its HTTPS record is made for it`,
  "any-minimal": () => "ANY is answered with one record that says so (RFC 8482)",
  "empty-non-terminal": (name: string) => `${name} exists only because names below it do`,
  "no-data": (name: string) => `${name} exists, without records of this type`,
  "no-name": (name: string) => `${name} does not exist`,
} as const;

export type RuleName = keyof typeof sentences;

export interface Rule {
  readonly rule: RuleName;
  /** The name that the rule was applied to. */
  readonly key: NameKey;
}

/** The name as text. */
export function ruleName({ key }: Rule): string {
  return formatName(Uint8Array.from(key, (character) => character.charCodeAt(0)));
}

/** A sentence for people. */
export function explainRule(rule: Rule): string {
  return sentences[rule.rule](ruleName(rule));
}
