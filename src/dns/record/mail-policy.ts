/**
 * Mail policies in TXT records: DKIM keys (RFC 6376), DMARC (RFC 7489) and SPF (RFC 7208).
 *
 * The specification lists them as types; they are TXT records. The owner name identifies DKIM and
 * DMARC, the first characters identify SPF. Deviation: the specification asks for a valid policy;
 * the deployed service takes any text.
 */
import { decodeBase64 } from "../wire/bytes.ts";
import { joinStrings, parseStrings } from "./fields.ts";
import { parseIpv4, parseIpv6 } from "./ip-address.ts";
import { problem, type ReportProblem } from "./problem.ts";

/**
 * `rule` completes the message "X records belong at …"; `check` returns the first error, or `null`.
 */
export const textKinds = {
  DKIM: {
    rule: "<selector>._domainkey",
    fits: (owner: string) => /^[^.]+\.(?:[^.]+\.)*_domainkey\./.test(owner),
    check: checkDkim,
    refuse: problem.dkim,
  },
  DMARC: {
    rule: "_dmarc",
    fits: (owner: string) => owner.startsWith("_dmarc."),
    check: checkDmarc,
    refuse: problem.dmarc,
  },
  SPF: {
    rule: "a name that sends mail and start with v=spf1",
    // Also "v=spf1include:…", so that a missing space is reported.
    fits: (_owner: string, text: string) => /^v=spf1/i.test(text),
    check: checkSpf,
    refuse: problem.spf,
  },
};

export function isTextKind(type: string): type is keyof typeof textKinds {
  return Object.hasOwn(textKinds, type);
}

/** Reports a DKIM, DMARC or SPF record that is no valid policy. */
export function checkTextPolicy(owner: string, content: string, report: ReportProblem): void {
  const text = joinStrings(parseStrings(content)!);
  const kind = Object.values(textKinds).find(({ fits }) => fits(owner, text));
  const reason = kind?.check(text) ?? null;
  if (kind !== undefined && reason !== null) report(kind.refuse(reason));
}

/** Reports a request of a kind whose name or content is of no such kind. */
export function checkTextKind(
  type: string,
  { name, content }: { readonly name: string; readonly content: string },
  report: ReportProblem,
): void {
  if (!isTextKind(type)) return;
  const { fits, rule } = textKinds[type];
  if (!fits(name, joinStrings(parseStrings(content)!))) report(problem.wrongName(type, rule));
}

/** Lists `name=value; name=value` (RFC 6376 section 3.2, RFC 7489 section 6.4). */
type TagList = ReadonlyMap<string, string>;

/** Returns the tags, or the first error. */
function parseTagList(text: string): TagList | string {
  const tags = new Map<string, string>();
  const parts = text.split(";");
  if (parts.at(-1)!.trim() === "") parts.pop();
  for (const part of parts) {
    const match = /^\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*([^]*?)\s*$/.exec(part);
    if (match === null) return `"${part.trim()}" is not of the form name=value`;
    const name = match[1]!.toLowerCase();
    if (tags.has(name)) return `${name}= is given twice`;
    tags.set(name, match[2]!);
  }
  return tags;
}

/** Returns the error of the first tag with a value that is not allowed, or `null`. */
function checkValues(tags: TagList, allowed: Readonly<Record<string, RegExp>>): string | null {
  for (const [name, value] of tags) {
    const isAllowed = !Object.hasOwn(allowed, name) || allowed[name]!.test(value);
    if (!isAllowed) return `${name}=${value} is not allowed`;
  }
  return null;
}

const words = /^[a-z0-9-]+(?:\s*:\s*[a-z0-9-]+)*$/i;

/** RFC 6376 section 3.6.1. */
const dkimTags = {
  k: /^(?:rsa|ed25519)$/,
  h: words,
  s: /^(?:\*|[a-z0-9-]+)(?:\s*:\s*(?:\*|[a-z0-9-]+))*$/i,
  t: words,
};

function checkDkim(text: string): string | null {
  const tags = parseTagList(text);
  if (typeof tags === "string") return tags;
  const version = tags.get("v");
  if (version !== undefined && version !== "DKIM1") return "v= must be DKIM1";
  if (version !== undefined && tags.keys().next().value !== "v") return "v= must come first";
  const key = tags.get("p");
  if (key === undefined) return "p= is missing (an empty p= revokes the key)";
  // Keys may contain blanks (RFC 6376 section 3.2) and are often published without padding.
  const digits = key.replaceAll(/\s/g, "").replace(/=+$/, "");
  if (decodeBase64(digits + "=".repeat((4 - (digits.length % 4)) % 4)) === null) {
    return "p= is not base64";
  }
  return checkValues(tags, dkimTags);
}

const policy = /^(?:none|quarantine|reject)$/i;
const alignment = /^[rs]$/i;
const reportUris =
  /^\s*[a-z][a-z0-9+.-]*:[^\s,!]+(?:![0-9]+[kmgt]?)?(?:\s*,\s*[a-z][a-z0-9+.-]*:[^\s,!]+(?:![0-9]+[kmgt]?)?)*\s*$/i;

/** RFC 7489 section 6.3. */
const dmarcTags = {
  p: policy,
  sp: policy,
  np: policy,
  adkim: alignment,
  aspf: alignment,
  fo: /^[01ds](?:\s*:\s*[01ds])*$/i,
  pct: /^(?:100|[1-9]?[0-9])$/,
  rf: words,
  ri: /^[0-9]{1,10}$/,
  rua: reportUris,
  ruf: reportUris,
};

function checkDmarc(text: string): string | null {
  const tags = parseTagList(text);
  if (typeof tags === "string") return tags;
  const [first] = tags.keys();
  if (first !== "v" || tags.get("v") !== "DMARC1") return "it must start with v=DMARC1";
  if (!tags.has("p")) return "p= is missing";
  return checkValues(tags, dmarcTags);
}

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

function checkSpf(text: string): string | null {
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
