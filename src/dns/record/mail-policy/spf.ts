import { parseIpv4, parseIpv6 } from "../field/ip-address.ts";

/** RFC 7208 section 4.6.4: the limit of terms that cause DNS queries. */
const lookupsMax = 10;
/** A domain-spec may contain macros (RFC 7208 section 7). */
const domainSpec = /^(?:[a-z0-9_.-]|%\{[slodiphcrtv][0-9]*r?[.\-+,/_=]*\}|%%|%_|%-)+$/i;
const cidrPattern = /^(?:\/(?:[0-9]|[12][0-9]|3[0-2]))?(?:\/\/(?:[0-9]{1,2}|1[01][0-9]|12[0-8]))?$/;

/** Also true for "v=spf1include:…", so that a missing space is reported. */
export function looksLikeSpf(text: string): boolean {
  return /^v=spf1/i.test(text);
}

function checkNetwork(value: string, parse: (text: string) => unknown, bits: number): boolean {
  const [address, prefix, ...more] = value.split("/");
  if (more.length > 0 || parse(address!) === null) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/** `a` and `mx` take an optional domain and an optional pair of prefix lengths. */
function checkDomainAndCidr(rest: string): boolean {
  const slash = rest.search(/\/\d|\/\//);
  const domain = slash < 0 ? rest : rest.slice(0, slash);
  if (!cidrPattern.test(slash < 0 ? "" : rest.slice(slash))) return false;
  return domain === "" || (domain.startsWith(":") && domainSpec.test(domain.slice(1)));
}

const mechanisms: ReadonlyMap<string, (rest: string) => boolean> = new Map([
  ["all", (rest) => rest === ""],
  ["include", (rest) => rest.startsWith(":") && domainSpec.test(rest.slice(1))],
  ["exists", (rest) => rest.startsWith(":") && domainSpec.test(rest.slice(1))],
  ["a", checkDomainAndCidr],
  ["mx", checkDomainAndCidr],
  ["ptr", (rest) => rest === "" || (rest.startsWith(":") && domainSpec.test(rest.slice(1)))],
  ["ip4", (rest) => rest.startsWith(":") && checkNetwork(rest.slice(1), parseIpv4, 32)],
  ["ip6", (rest) => rest.startsWith(":") && checkNetwork(rest.slice(1), parseIpv6, 128)],
]);
const lookupTerms = new Set(["include", "exists", "a", "mx", "ptr", "redirect"]);

/** Returns the first error of an SPF policy, or `null`. */
export function checkSpf(text: string): string | null {
  if (!/^v=spf1(?: |$)/i.test(text)) return "it must start with v=spf1 and a space";
  let lookups = 0;
  const modifiers = new Set<string>();
  for (const term of text.trim().split(/ +/).slice(1)) {
    const modifier = /^([a-z][a-z0-9_.-]*)=(.*)$/i.exec(term);
    const mechanism = /^[+?~-]?([a-z0-9]+)(.*)$/i.exec(term);
    if (modifier !== null) {
      const name = modifier[1]!.toLowerCase();
      if (name === "redirect" || name === "exp") {
        if (modifiers.has(name)) return `${name}= is given twice`;
        if (!domainSpec.test(modifier[2]!)) return `"${term}" has no valid domain`;
        modifiers.add(name);
      }
      if (lookupTerms.has(name)) lookups += 1;
    } else {
      const name = mechanism?.[1]!.toLowerCase() ?? "";
      const check = mechanisms.get(name);
      if (check === undefined) return `"${term}" is not a mechanism`;
      if (!check(mechanism![2]!)) return `"${term}" is malformed`;
      if (lookupTerms.has(name)) lookups += 1;
    }
  }
  return lookups > lookupsMax ? `it needs ${lookups} lookups and ${lookupsMax} are allowed` : null;
}
