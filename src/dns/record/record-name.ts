/**
 * Owner names. A request may contain `@`, a relative name, or a full name with or without the final
 * dot; the zone stores lower-case punycode without the dot. In A, AAAA and CNAME records the labels
 * below the zone must have the specification's form (start with a letter, end with a letter or
 * digit; underscores allowed); with `name_rules = "dns"` any DNS label is allowed. Deviation: the
 * deployed service allows labels that start with a digit, which the specification does not.
 */
import { labelBytesMax } from "../wire/name.ts";
import { problem, type ReportProblem } from "./problem.ts";
import { toAsciiName } from "./punycode.ts";

export type NameRules = "strict" | "dns";

/** 255 octets on the wire leave 253 characters of text (RFC 1035 section 2.3.4). */
const nameCharactersMax = 253;

/** RFC 2317 delegations such as 0/25.2.0.192.in-addr.arpa contain a slash. */
const dnsLabel = /^[a-z0-9_/-]+$/;
/** Underscores count as letters: _acme-challenge is a common CNAME. */
const strictLabel = /^[a-z_](?:[a-z0-9_-]*[a-z0-9])?$/;
const strictTypes = new Set(["A", "AAAA", "CNAME"]);

export function isDnsName(name: string): boolean {
  if (name.length > nameCharactersMax) return false;
  return name.split(".").every((label) => label.length <= labelBytesMax && dnsLabel.test(label));
}

export function isInZone(name: string, zoneName: string): boolean {
  return name === zoneName || name.endsWith(`.${zoneName}`);
}

/** The full name for the name of a request, not validated. */
export function expandName(input: string, zoneName: string): string {
  const name = toAsciiName(input.trim());
  if (name === "@" || name === `@.${zoneName}`) return zoneName;
  if (name.endsWith(".")) return name.slice(0, -1);
  return isInZone(name, zoneName) ? name : `${name}.${zoneName}`;
}

export interface NameRequest {
  readonly input: unknown;
  readonly type: string;
  readonly zoneName: string;
  readonly rules: NameRules;
}

export function resolveName(request: NameRequest, report: ReportProblem): string | undefined {
  const { input, type, zoneName, rules } = request;
  if (input === undefined || input === null) {
    report(problem.requiredField("name"));
    return undefined;
  }
  if (typeof input === "string" && input.trim() !== "") {
    const name = expandName(input, zoneName);
    if (isInZone(name, zoneName) && isValidOwner(name, { type, zoneName, rules })) return name;
  }
  report(problem.nameInvalid());
  return undefined;
}

function isValidOwner(name: string, options: Omit<NameRequest, "input">): boolean {
  if (name === options.zoneName) return true;
  const plain = name.startsWith("*.") ? name.slice(2) : name;
  if (name.length > nameCharactersMax || !isDnsName(plain)) return false;
  if (options.rules === "dns" || !strictTypes.has(options.type)) return true;
  if (plain === options.zoneName) return true;
  const below = plain.slice(0, -options.zoneName.length - 1);
  return below.split(".").every((label) => strictLabel.test(label));
}
