/**
 * Owner names. A request may contain `@`, a relative name, or a full name with or without the final
 * dot; the zone stores lower-case punycode without the dot. In A, AAAA and CNAME records the labels
 * below the zone must have the specification's form (start with a letter, end with a letter or
 * digit; underscores allowed); with `name_rules = "dns"`, and in reverse zones, any DNS label is
 * allowed. Deviation: the deployed service allows labels that start with a digit, which the
 * specification does not.
 */
import { labelBytesMax } from "../wire/name.ts";
import { problem, type ReportProblem } from "./problem.ts";

export type NameRules = "strict" | "dns";

/** 255 octets on the wire leave 253 characters of text (RFC 1035 section 2.3.4). */
const nameCharactersMax = 253;

/** RFC 2317 delegations such as 0/25.2.0.192.in-addr.arpa contain a slash. */
const dnsLabel = /^[a-z0-9_/-]+$/;
/** Owner names may have dots inside a label, written as `\.` (RFC 1035 section 5.1). */
const ownerLabel = /^(?:[a-z0-9_/-]|\\\.)+$/;
const unescapedDot = /(?<!\\)\./;
/** Underscores count as letters: _acme-challenge is a common CNAME. */
const strictLabel = /^[a-z_](?:[a-z0-9_-]*[a-z0-9])?$/;
/** The names of reverse zones are parts of addresses, also those of CNAMEs (RFC 2317). */
const reverseZone = /(?:^|\.)(?:in-addr|ip6)\.arpa$/;
const strictTypes = new Set(["A", "AAAA", "CNAME"]);

export function isDnsName(name: string, labelForm = dnsLabel): boolean {
  if (unescaped(name).length > nameCharactersMax) return false;
  return name
    .split(unescapedDot)
    .every((label) => unescaped(label).length <= labelBytesMax && labelForm.test(label));
}

function unescaped(text: string): string {
  return text.replaceAll("\\.", ".");
}

export function isInZone(name: string, zoneName: string): boolean {
  if (name === zoneName) return true;
  return name.endsWith(`.${zoneName}`) && name.at(-zoneName.length - 2) !== "\\";
}

export function isAbsoluteName(name: string): boolean {
  return name.endsWith(".") && !name.endsWith("\\.");
}

/** A global of every runtime; the pure folders are compiled without the types of a runtime. */
declare const URL: new (url: string) => { readonly hostname: string };

// oxlint-disable-next-line no-control-regex -- the pattern tests for ASCII
const asciiText = /^[\x00-\x7f]*$/;
/** The runtime would take other ASCII characters for parts of a URL. */
const unicodeLabel = /^[a-z0-9_*\u{80}-\u{10ffff}-]+$/u;

/** A name with its labels in punycode (UTS 46); a label that cannot be converted stays. */
export function toAsciiName(name: string): string {
  if (asciiText.test(name)) return name.toLowerCase();
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[。．｡]/gu, ".")
    .split(".")
    .map((label) => {
      if (asciiText.test(label) || !unicodeLabel.test(label)) return label;
      try {
        return new URL(`http://${label}.invalid`).hostname.slice(0, -".invalid".length);
      } catch {
        return label;
      }
    })
    .join(".");
}

/** The full name for the name of a request, not validated. */
export function expandName(input: string, zoneName: string): string {
  const name = toAsciiName(input.trim());
  if (name === "@" || name === `@.${zoneName}`) return zoneName;
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
  if (unescaped(name).length > nameCharactersMax || !isDnsName(plain, ownerLabel)) return false;
  if (options.rules === "dns" || !strictTypes.has(options.type)) return true;
  if (reverseZone.test(options.zoneName)) return true;
  if (plain === options.zoneName) return true;
  const below = plain.slice(0, -options.zoneName.length - 1);
  return below.split(".").every((label) => strictLabel.test(label));
}
