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

/** Whether a name ends with the dot of the root. */
export function isAbsoluteName(name: string): boolean {
  return name.endsWith(".") && !name.endsWith("\\.");
}

/** Maps compatibility forms, capitals and ideographic full stops as UTS 46 does. */
export function toAsciiName(name: string): string {
  // oxlint-disable-next-line no-control-regex -- the pattern tests for ASCII
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase();
  return (
    name
      .normalize("NFKC")
      .toLowerCase()
      .normalize("NFC")
      .replaceAll(/[。．｡]/gu, ".")
      .split(".")
      // oxlint-disable-next-line no-control-regex -- the pattern tests for ASCII
      .map((label) => (/^[\x00-\x7f]*$/.test(label) ? label : `xn--${encodePunycode(label)}`))
      .join(".")
  );
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

/** The constants of punycode (RFC 3492), encoding only: names are never converted back to Unicode. */
const base = 36;
const tMin = 1;
const tMax = 26;
const skew = 38;
const damp = 700;
const initialBias = 72;
const initialN = 128;

function digit(value: number): string {
  return String.fromCharCode(value < 26 ? value + 97 : value + 22);
}

function adaptBias(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / damp) : Math.floor(delta / 2);
  rest += Math.floor(rest / points);
  let k = 0;
  while (rest > Math.floor(((base - tMin) * tMax) / 2)) {
    rest = Math.floor(rest / (base - tMin));
    k += base;
  }
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew));
}

function encodeVariableLength(delta: number, bias: number): string {
  let text = "";
  let rest = delta;
  for (let k = base; ; k += base) {
    const threshold = Math.min(Math.max(k - bias, tMin), tMax);
    if (rest < threshold) return text + digit(rest);
    text += digit(threshold + ((rest - threshold) % (base - threshold)));
    rest = Math.floor((rest - threshold) / (base - threshold));
  }
}

export function encodePunycode(label: string): string {
  const points = Array.from(label, (character) => character.codePointAt(0)!);
  const basic = points.filter((point) => point < initialN);
  let output = String.fromCharCode(...basic);
  if (basic.length > 0) output += "-";
  let handled = basic.length;
  let n = initialN;
  let delta = 0;
  let bias = initialBias;
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta += 1;
      if (point === n) {
        output += encodeVariableLength(delta, bias);
        bias = adaptBias(delta, handled + 1, handled === basic.length);
        delta = 0;
        handled += 1;
      }
    }
    delta += 1;
    n += 1;
  }
  return output;
}
