import { parseIpv4, parseIpv6 } from "../field/ip-address.ts";

/** RFC 7208 section 4.6.4: the limit of terms that cause DNS queries. */
const lookupsMax = 10;
/** A domain-spec may contain macros (RFC 7208 section 7). */
const domain = String.raw`(?:[a-z0-9_.-]|%\{[slodiphcrtv][0-9]*r?[.\-+,/_=]*\}|%%|%_|%-)+`;
const cidr4 = String.raw`(?:\/(?:[0-9]|[12][0-9]|3[0-2]))`;
const cidr6 = String.raw`(?:\/\/(?:[0-9]{1,2}|1[01][0-9]|12[0-8]))`;

function matcher(pattern: string): (text: string) => boolean {
  const regExp = new RegExp(`^${pattern}$`, "i");
  return (text) => regExp.test(text);
}

const isDomain = matcher(domain);
const isDomainArgument = matcher(`:${domain}`);
const isDomainAndCidr = matcher(`(?::${domain})?${cidr4}?${cidr6}?`);

function isNetwork(argument: string, parse: (text: string) => unknown, bits: number): boolean {
  const [, address, prefix = "0"] = /^:([^/]*)(?:\/(\d{1,3}))?$/.exec(argument) ?? [];
  return address !== undefined && parse(address) !== null && Number(prefix) <= bits;
}

/** Each check receives the term after the name of the mechanism. */
const mechanisms: ReadonlyMap<string, (argument: string) => boolean> = new Map([
  ["all", (argument) => argument === ""],
  ["include", isDomainArgument],
  ["exists", isDomainArgument],
  ["a", isDomainAndCidr],
  ["mx", isDomainAndCidr],
  ["ptr", matcher(`(?::${domain})?`)],
  ["ip4", (argument) => isNetwork(argument, parseIpv4, 32)],
  ["ip6", (argument) => isNetwork(argument, parseIpv6, 128)],
]);
const lookupTerms = new Set(["include", "exists", "a", "mx", "ptr", "redirect"]);

/** Also true for "v=spf1include:…", so that a missing space is reported. */
export function looksLikeSpf(text: string): boolean {
  return /^v=spf1/i.test(text);
}

/** Returns the first error of an SPF policy, or `null`. */
export function checkSpf(text: string): string | null {
  if (!/^v=spf1(?: |$)/i.test(text)) return "it must start with v=spf1 and a space";
  let lookups = 0;
  const modifiers = new Set<string>();
  for (const term of text.trim().split(/ +/).slice(1)) {
    const modifier = /^([a-z][a-z0-9_.-]*)=(.*)$/i.exec(term);
    const parts = modifier ?? /^[+?~-]?([a-z0-9]+)(.*)$/i.exec(term);
    const [, name = "", argument = ""] = parts ?? [];
    const word = name.toLowerCase();
    if (modifier === null) {
      const check = mechanisms.get(word);
      if (check === undefined) return `"${term}" is not a mechanism`;
      if (!check(argument)) return `"${term}" is malformed`;
    } else if (word === "redirect" || word === "exp") {
      if (modifiers.has(word)) return `${word}= is given twice`;
      if (!isDomain(argument)) return `"${term}" has no valid domain`;
      modifiers.add(word);
    }
    if (lookupTerms.has(word)) lookups += 1;
  }
  return lookups > lookupsMax ? `it needs ${lookups} lookups and ${lookupsMax} are allowed` : null;
}
