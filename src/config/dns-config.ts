/**
 * The `[dns]` table of the configuration file, handed in as JSON. Keys are checked here and not
 * where they are used, so that a mistake is said once, with its place.
 */
import { commentCharactersMaxDefault, tagsMaxDefault } from "../dns/rules/annotation.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "../dns/record/field/ip-address.ts";
import { readInteger } from "../dns/record/field/integer.ts";
import { normaliseHostname } from "../dns/record/field/hostname.ts";
import type { NameRules } from "../dns/record/record-name.ts";
import { emailPattern, keyPattern, tokenPattern } from "../dns/rules/account.ts";
import { acceptApiFault, type ApiFault } from "../dns/rules/api-fault.ts";
import { unknownKey } from "../base/nearest.ts";

interface Token {
  readonly token: string;
  /** Names or ids; every zone without it. */
  readonly zones: readonly string[] | null;
  readonly readOnly: boolean;
}

interface DeclaredZone {
  readonly name: string;
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

export interface DnsConfig {
  readonly email: string;
  readonly key: string;
  readonly tokens: readonly Token[];
  readonly platformAddresses: readonly string[];
  readonly nameRules: NameRules;
  readonly nameServers: readonly string[];
  readonly zones: readonly DeclaredZone[];
  readonly commentCharactersMax: number;
  readonly tagsMax: number;
  readonly recordQuota: number;
  readonly batchQuota: number;
  readonly faults: readonly ApiFault[];
}

/** Says every mistake; each begins with its place, as in `dns.zones[0].name must be a hostname`. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[], options?: ErrorOptions) {
    super(mistakes.join("; "), options);
    this.mistakes = mistakes;
  }
}

function mistake(place: string, problem: string): ConfigError {
  return new ConfigError([`${place} ${problem}`]);
}

/** All of the results, or all of the mistakes. */
function all<Result>(reads: readonly (() => Result)[]): Result[] {
  const mistakes: string[] = [];
  const results: Result[] = [];
  for (const read of reads) {
    try {
      results.push(read());
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(...error.mistakes);
    }
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return results;
}

/** Known quota of a large zone; a local zone has no reason for a smaller one. */
const recordQuotaDefault = 1_000_000;
/** The deployed service's largest batch. */
const batchQuotaDefault = 3500;

export const localDefaults: DnsConfig = {
  email: "dev@ledge.local",
  key: "0123456789abcdef0123456789abcdef01234",
  tokens: [],
  platformAddresses: ["198.18.0.1", "198.18.0.2", "2001:2::1", "2001:2::2"],
  nameRules: "strict",
  nameServers: ["ns1.ledge.local", "ns2.ledge.local"],
  zones: [],
  commentCharactersMax: commentCharactersMaxDefault,
  tagsMax: tagsMaxDefault,
  recordQuota: recordQuotaDefault,
  batchQuota: batchQuotaDefault,
  faults: [],
};

type Table = Readonly<Record<string, unknown>>;

function table(input: unknown, place: string): Table {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input as Table;
  throw mistake(place, "must be a table");
}

function list<Item>(
  input: unknown,
  place: string,
  read: (item: unknown, place: string) => Item,
): Item[] {
  if (!Array.isArray(input)) throw mistake(place, "must be a list");
  return all(input.map((item, index) => () => read(item, `${place}[${index}]`)));
}

function string(input: unknown, place: string): string {
  if (typeof input === "string" && input !== "") return input;
  throw mistake(place, "must be a string that is not empty");
}

function count(input: unknown, place: string): number {
  const value = readInteger(input);
  if (value !== null && value >= 0) return value;
  throw mistake(place, "must be a whole number");
}

function boolean(input: unknown, place: string): boolean {
  if (typeof input === "boolean") return input;
  throw mistake(place, "must be true or false");
}

function hostname(input: unknown, place: string): string {
  const name = typeof input === "string" ? normaliseHostname(input) : null;
  if (name !== null) return name;
  throw mistake(place, "must be a hostname");
}

function address(input: unknown, place: string): string {
  const text = string(input, place);
  const [ipv4, ipv6] = [parseIpv4(text), parseIpv6(text)];
  if (ipv4 !== null) return formatIpv4(ipv4);
  if (ipv6 !== null) return formatIpv6(ipv6);
  throw mistake(place, "must be an IPv4 or IPv6 address");
}

function nameRules(input: unknown, place: string): NameRules {
  if (input === "strict" || input === "dns") return input;
  throw mistake(place, 'must be "strict" or "dns"');
}

function email(input: unknown, place: string): string {
  const text = string(input, place);
  if (emailPattern.test(text)) return text;
  throw mistake(place, "must be an e-mail address");
}

function apiKey(input: unknown, place: string): string {
  const text = string(input, place);
  if (keyPattern.test(text)) return text;
  throw mistake(place, "must have 16 to 128 letters, digits, hyphens and underscores");
}

function bearer(input: unknown, place: string): string {
  const text = string(input, place);
  if (tokenPattern.test(text)) return text;
  throw mistake(place, "must have 8 to 512 characters, and no spaces");
}

function token(input: unknown, place: string): Token {
  const given = knownKeys(table(input, place), place, ["token", "zones", "read_only"]);
  return {
    token: bearer(given["token"], `${place}.token`),
    zones: given["zones"] === undefined ? null : list(given["zones"], `${place}.zones`, hostname),
    readOnly: boolean(given["read_only"] ?? false, `${place}.read_only`),
  };
}

function zone(input: unknown, place: string): DeclaredZone {
  const given = knownKeys(table(input, place), place, ["name", "records"]);
  return {
    name: hostname(given["name"], `${place}.name`),
    records: list(given["records"] ?? [], `${place}.records`, table),
  };
}

function fault(input: unknown, place: string): ApiFault {
  try {
    return acceptApiFault(input, place);
  } catch (cause) {
    throw new ConfigError([(cause as Error).message], { cause });
  }
}

function knownKeys(given: Table, place: string, known: readonly string[]): Table {
  all(
    Object.keys(given).map((key) => () => {
      if (!known.includes(key)) throw mistake(`${place}.${key}`, unknownKey(key, known));
    }),
  );
  return given;
}

/** Keys that belong to the listeners and the dev server; they mean nothing here. */
const otherKeys = [
  "api_port",
  "port",
  "hosts",
  "threads",
  "resolver",
  "binding",
  "keys",
  "transfers",
];

const configKeys: Readonly<
  Record<string, readonly [keyof DnsConfig, (input: unknown, place: string) => unknown]>
> = {
  email: ["email", email],
  key: ["key", apiKey],
  tokens: ["tokens", (input, place) => list(input, place, token)],
  platform_addresses: ["platformAddresses", (input, place) => list(input, place, address)],
  name_rules: ["nameRules", nameRules],
  name_servers: ["nameServers", (input, place) => list(input, place, hostname)],
  zones: ["zones", (input, place) => list(input, place, zone)],
  comment_length: ["commentCharactersMax", count],
  tag_quota: ["tagsMax", count],
  record_quota: ["recordQuota", count],
  batch_quota: ["batchQuota", count],
  faults: ["faults", (input, place) => list(input, place, fault)],
};

export const dnsKeys: readonly string[] = [...Object.keys(configKeys), ...otherKeys];

/** The variables that the worker is given. Secrets may come on their own, out of `.dev.vars`. */
export interface ConfigVariables {
  /** The `[dns]` table as JSON; the local defaults without it. */
  readonly DNS_CONFIG?: string;
  readonly DNS_EMAIL?: string;
  readonly DNS_KEY?: string;
  /** A list as JSON, of the form of `tokens`; added to those of the table. */
  readonly DNS_TOKENS?: string;
}

function parseJson(json: string, place: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new ConfigError([`${place} is not JSON`], { cause });
  }
}

function readTable(json: string): DnsConfig {
  const given = table(parseJson(json, "DNS_CONFIG"), "dns");
  const read = all(
    Object.entries(given).map(([key, value]) => (): [string, unknown][] => {
      if (otherKeys.includes(key)) return [];
      const entry = Object.hasOwn(configKeys, key) ? configKeys[key] : undefined;
      if (entry === undefined) throw mistake(`dns.${key}`, unknownKey(key, dnsKeys));
      const [name, accept] = entry;
      return [[name, accept(value, `dns.${key}`)]];
    }),
  );
  return { ...localDefaults, ...Object.fromEntries(read.flat()) };
}

export function readConfig(variables: ConfigVariables): DnsConfig {
  const {
    DNS_CONFIG: dnsConfig,
    DNS_EMAIL: dnsEmail,
    DNS_KEY: dnsKey,
    DNS_TOKENS: dnsTokens,
  } = variables;
  const config = dnsConfig ? readTable(dnsConfig) : localDefaults;
  const more = dnsTokens ? list(parseJson(dnsTokens, "DNS_TOKENS"), "DNS_TOKENS", token) : [];
  return {
    ...config,
    email: dnsEmail ? email(dnsEmail, "DNS_EMAIL") : config.email,
    key: dnsKey ? apiKey(dnsKey, "DNS_KEY") : config.key,
    tokens: [...config.tokens, ...more],
  };
}
