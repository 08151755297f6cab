/**
 * Owner names. A request may contain `@`, a relative name, or a full name with or without the final
 * dot. The zone stores the canonical text: lower case, labels in punycode, without the final dot, and
 * with the escapes of RFC 1035 section 5.1 (`\.`, `\032`) where a zone file needs them. So equal names
 * have equal texts, and each name can stand in a zone file, whatever octets its labels hold.
 *
 * In A, AAAA and CNAME records the labels below the zone must have the specification's form (start
 * with a letter, end with a letter or digit; underscores allowed), except in reverse zones. In other
 * records labels are of letters, digits, `_`, `-`, `/` and `\.`. With `name_rules = "dns"` a label of
 * any record may have any octets (RFC 2181 section 11). Deviation: the deployed service allows labels
 * that start with a digit, which the specification does not.
 */
import { unescapeBytes } from "../wire/bytes.ts";
import { escapeLabel, labelBytesMax, lowerCase } from "../wire/name.ts";
import { problem, type ReportProblem } from "./problem.ts";

export type NameRules = "strict" | "dns";

/** 255 octets on the wire leave 253 characters of text (RFC 1035 section 2.3.4). */
const nameCharactersMax = 253;

/** RFC 2317 delegations such as 0/25.2.0.192.in-addr.arpa contain a slash. */
const dnsLabel = /^[a-z0-9_/-]+$/;
/** Owner names may have dots inside a label, written as `\.` (RFC 1035 section 5.1). */
const ownerLabel = /^(?:[a-z0-9_/-]|\\\.)+$/;
/** Any octets, in canonical text. */
const octetsLabel = /^(?:[a-z0-9_*/-]|\\(?:[01]\d\d|2[0-4]\d|25[0-5]|[!-/:-~]))+$/;
/** Also the dots of other scripts (UTS 46). */
const unescapedDot = /(?<=(?:^|[^\\])(?:\\\\)*)[.。．｡]/u;
/** Underscores count as letters: _acme-challenge is a common CNAME. */
const strictLabel = /^[a-z_](?:[a-z0-9_-]*[a-z0-9])?$/;
/** The names of reverse zones are parts of addresses, also those of CNAMEs (RFC 2317). */
const reverseZone = /(?:^|\.)(?:in-addr|ip6)\.arpa$/;
const strictTypes = new Set(["A", "AAAA", "CNAME"]);

/** The labels of a name, with their escapes. */
function splitLabels(name: string): string[] {
  return name.includes("\\") ? name.split(unescapedDot) : name.split(".");
}

function octetCount(text: string): number {
  return text.includes("\\") ? text.replaceAll(/\\(?:\d{3}|[^])/g, "x").length : text.length;
}

/** Whether a name without escapes is one of letters, digits, `_`, `-` and `/`. */
export function isDnsName(name: string): boolean {
  return name.length <= nameCharactersMax && name.split(".").every(isDnsLabel);
}

function isDnsLabel(label: string): boolean {
  return label.length <= labelBytesMax && dnsLabel.test(label);
}

/** Whether a name in canonical text fits on the wire, whatever octets its labels hold. */
export function isWireName(name: string): boolean {
  return findNameFault(name) === null;
}

export function isInZone(name: string, zoneName: string): boolean {
  if (name === zoneName) return true;
  return name.endsWith(`.${zoneName}`) && isAbsoluteName(name.slice(0, -zoneName.length));
}

/** Whether a name ends with a dot that is not escaped. */
export function isAbsoluteName(name: string): boolean {
  return name.endsWith(".") && (!name.endsWith("\\.") || splitLabels(name).at(-1) === "");
}

export function withoutFinalDot(name: string): string {
  return name !== "." && isAbsoluteName(name) ? name.slice(0, -1) : name;
}

/** The name without its first label; "" for a name of one label. */
export function parentName(name: string): string {
  const [first] = splitLabels(name);
  return name.slice(first!.length + 1);
}

/** A global of every runtime; the pure folders are compiled without the types of a runtime. */
declare const URL: new (url: string) => { readonly hostname: string };

// oxlint-disable-next-line no-control-regex -- the pattern tests for ASCII
const asciiText = /^[\x00-\x7f]*$/;
/** Such a name needs no escapes. */
const plainName = /^[A-Za-z0-9_*/.-]*$/;
/** The runtime would take other ASCII characters for parts of a URL. */
const unicodeLabel = /^[a-z0-9_*\u{80}-\u{10ffff}-]+$/u;

/** The canonical text of a name (UTS 46); a label that cannot be converted stays. */
export function toAsciiName(name: string): string {
  if (plainName.test(name)) return name.toLowerCase();
  return name.split(unescapedDot).map(toAsciiLabel).join(".");
}

/** The name of a question, which keeps the case of its letters; without IDNA when it is ASCII. */
export function toQuestionName(name: string): string {
  return asciiText.test(name) ? name : toAsciiName(name);
}

function toAsciiLabel(label: string): string {
  if (asciiText.test(label)) {
    const octets = unescapeBytes(label);
    return octets === null ? label : escapeLabel(octets.map((octet) => lowerCase[octet]!));
  }
  const folded = label.normalize("NFKC").toLowerCase();
  if (!unicodeLabel.test(folded)) return label;
  try {
    return new URL(`http://${folded}.invalid`).hostname.slice(0, -".invalid".length);
  } catch {
    return label;
  }
}

/** The full name for the name of a request, not validated. */
export function expandName(input: string, zoneName: string): string {
  const given = input.trim();
  if (given === "@" || given.toLowerCase() === `@.${zoneName}`) return zoneName;
  const name = toAsciiName(given);
  if (isAbsoluteName(name)) return name.slice(0, -1);
  return isInZone(name, zoneName) ? name : `${name}.${zoneName}`;
}

export interface NameRequest {
  readonly input: unknown;
  readonly type: string;
  readonly zoneName: string;
  readonly rules: NameRules;
}

export function resolveName(request: NameRequest, report: ReportProblem): string | undefined {
  const { input, zoneName } = request;
  if (input === undefined || input === null) {
    report(problem.requiredField("name"));
    return undefined;
  }
  if (typeof input !== "string" || input.trim() === "") {
    report(problem.nameInvalid("A name is a text that is not empty."));
    return undefined;
  }
  const name = expandName(input, zoneName);
  const fault = name === zoneName ? null : (findNameFault(name) ?? findOwnerFault(name, request));
  if (fault === null) return name;
  report(problem.nameInvalid(fault));
  return undefined;
}

/** Why no message can hold a name, or its text is not canonical; `null` when the name is valid. */
function findNameFault(name: string): string | null {
  if (octetCount(name) > nameCharactersMax) {
    return `The name has more than ${nameCharactersMax} characters.`;
  }
  for (const label of splitLabels(name)) {
    if (label === "") return "A label is empty.";
    if (octetCount(label) > labelBytesMax) return `A label has more than ${labelBytesMax} octets.`;
    if (octetsLabel.test(label)) continue;
    return asciiText.test(label)
      ? `Label ${JSON.stringify(label)} has a malformed escape: a backslash precedes a character, or three digits up to 255.`
      : `Label ${JSON.stringify(label)} has no form in ASCII (IDNA): write its octets as \\DDD.`;
  }
  return null;
}

/** Why a zone cannot own a valid name. */
function findOwnerFault(name: string, request: Omit<NameRequest, "input">): string | null {
  const { type, zoneName, rules } = request;
  if (!isInZone(name, zoneName)) return `The name is not in the zone ${zoneName}.`;
  if (rules === "dns") return null;
  const isStrict = strictTypes.has(type) && !reverseZone.test(zoneName);
  const below = name.slice(0, -zoneName.length - 1).replace(/^\*(?:\.|$)/, "");
  const labels = below === "" ? [] : splitLabels(below);
  const wrong = labels.find((label) => !(isStrict ? strictLabel : ownerLabel).test(label));
  if (wrong === undefined) return null;
  const place = isStrict ? `the name of a record of type ${type}` : "a name";
  return `Label ${JSON.stringify(wrong)} cannot be part of ${place} unless name_rules = "dns" in [dns].`;
}
