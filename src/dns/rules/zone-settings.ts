/**
 * The settings of a zone: the API resources `settings` and `dns_settings`. Each of the former has a
 * first value and a rule for other values, as in the deployed service. Deviation: only `http2` and `http3` change answers; the others
 * are kept for clients that read and write them.
 */
import { normaliseTarget, readInteger } from "../record/fields.ts";
import { problem, type Problem, type ReportProblem } from "../record/problem.ts";
import {
  negativeTtlSecondsRange,
  nsTtlSecondsRange,
  soaTtlSecondsRange,
} from "../record/zone-record.ts";

interface SettingRule {
  readonly first: unknown;
  /** Returns the problem with a value; `null` for a value that the setting can have. */
  readonly check: (value: unknown) => Problem | null;
}

function oneOf(values: readonly (string | number)[], first = values[0]): SettingRule {
  const check = (value: unknown): Problem | null =>
    values.some((known) => known === value) ? null : problem.notOneOf("value", values);
  return { first, check };
}

function between(min: number, max: number, first: number): SettingRule {
  const check = (value: unknown): Problem | null => {
    const number = typeof value === "number" ? readInteger(value) : null;
    const isInRange = number !== null && number >= min && number <= max;
    return isInRange ? null : problem.integerRange("value", min, max);
  };
  return { first, check };
}

function structured(first: object): SettingRule {
  const check = (value: unknown): Problem | null =>
    typeof value === "object" && value !== null && Array.isArray(value) === Array.isArray(first)
      ? null
      : Array.isArray(first)
        ? problem.notAList("value", "strings")
        : problem.notAnObject("value");
  return { first, check };
}

const off = oneOf(["on", "off"], "off");
const on = oneOf(["on", "off"]);
const yearSeconds = 31_536_000;

const rules = {
  "0rtt": off,
  always_online: off,
  always_use_https: off,
  automatic_https_rewrites: on,
  brotli: on,
  browser_cache_ttl: between(0, yearSeconds, 14_400),
  browser_check: on,
  cache_level: oneOf(["aggressive", "basic", "simplified"]),
  challenge_ttl: between(300, yearSeconds, 1800),
  ciphers: structured([]),
  cname_flattening: oneOf(["flatten_at_root", "flatten_all"]),
  development_mode: off,
  early_hints: off,
  email_obfuscation: on,
  hotlink_protection: off,
  http2: on,
  http3: on,
  ip_geolocation: on,
  ipv6: on,
  max_upload: between(100, 500, 100),
  min_tls_version: oneOf(["1.0", "1.1", "1.2", "1.3"]),
  mirage: off,
  opportunistic_encryption: on,
  opportunistic_onion: on,
  origin_error_page_pass_thru: off,
  polish: oneOf(["off", "lossless", "lossy"]),
  prefetch_preload: off,
  privacy_pass: on,
  proxy_read_timeout: between(1, 6000, 100),
  pseudo_ipv4: oneOf(["off", "add_header", "overwrite_header"]),
  response_buffering: off,
  rocket_loader: off,
  security_header: structured({ strict_transport_security: { enabled: false, max_age: 0 } }),
  security_level: oneOf(
    ["off", "essentially_off", "low", "medium", "high", "under_attack"],
    "medium",
  ),
  server_side_exclude: on,
  sort_query_string_for_cache: off,
  // A local zone has no certificate before a client asks for one.
  ssl: oneOf(["off", "flexible", "full", "strict"]),
  tls_1_3: oneOf(["off", "on", "zrt"], "on"),
  tls_client_auth: off,
  true_client_ip_header: off,
  waf: off,
  webp: off,
  websockets: on,
} as const satisfies Readonly<Record<string, SettingRule>>;

export type SettingName = keyof typeof rules;
export const settingNames = Object.keys(rules) as readonly SettingName[];

/** HTTP versions. The HTTPS records of proxied names depend on them. docs/deviations.md lists the others. */
export const httpVersions = ["http2", "http3"] as const;

export interface SettingState {
  readonly value: unknown;
  readonly modifiedOn: string | null;
}

export function findSettingName(word: unknown): SettingName | null {
  return settingNames.find((name) => name === word) ?? null;
}

export function firstSetting(name: SettingName): SettingState {
  return { value: rules[name].first, modifiedOn: null };
}

export function checkSetting(name: SettingName, value: unknown): Problem | null {
  return rules[name].check(value);
}

export function isServedSetting(name: SettingName): boolean {
  return httpVersions.some((version) => version === name);
}

export function describeSetting(name: SettingName, state: SettingState): Record<string, unknown> {
  return { id: name, value: state.value, editable: true, modified_on: state.modifiedOn };
}

export type DnsSettings = Readonly<ReturnType<typeof defaultSettings>>;

/** Answers depend on these. docs/deviations.md lists the others. */
export const servedDnsSettings = ["flatten_all_cnames", "ns_ttl", "soa", "zone_mode"] as const;

const nameserverTypes = [
  "cloudflare.standard",
  "cloudflare.advanced",
  "custom.account",
  "custom.tenant",
  "custom.zone",
];
const zoneModes = ["standard", "cdn_only", "dns_only"];
const switches = ["flatten_all_cnames", "foundation_dns", "multi_provider", "secondary_overrides"];

/** The deployed service's ranges. */
const nameServerSetRange = [1, 5] as const;
const soaSecondsRanges = {
  expire: [86_400, 2_419_200],
  min_ttl: negativeTtlSecondsRange,
  refresh: [600, 86_400],
  retry: [600, 86_400],
  ttl: soaTtlSecondsRange,
} as const;

export function defaultSettings(nameServers: readonly string[]) {
  const [primary = "ns1.ledge.local"] = nameServers;
  return {
    flatten_all_cnames: false,
    foundation_dns: false,
    multi_provider: false,
    nameservers: { type: nameserverTypes[0]! } as { type: string; ns_set?: number },
    ns_ttl: 86_400,
    secondary_overrides: false,
    soa: {
      expire: 604_800,
      min_ttl: 1800,
      mname: primary,
      refresh: 10_000,
      retry: 2400,
      rname: `dns.${primary.slice(primary.indexOf(".") + 1)}`,
      ttl: 3600,
    },
    zone_mode: "standard",
  };
}

function isObject(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

function acceptInteger(
  name: string,
  input: unknown,
  [min, max]: readonly [min: number, max: number],
  report: ReportProblem,
): number | null {
  const value = readInteger(input);
  if (value !== null && value >= min && value <= max) return value;
  report(problem.integerRange(name, min, max));
  return null;
}

function applySoaPatch(current: DnsSettings["soa"], input: unknown, report: ReportProblem) {
  if (!isObject(input)) {
    report(problem.notAnObject("soa"));
    return current;
  }
  const edited: Record<string, unknown> = { ...current };
  for (const [name, range] of Object.entries(soaSecondsRanges)) {
    if (input[name] === undefined) continue;
    edited[name] = acceptInteger(`soa.${name}`, input[name], range, report);
  }
  for (const name of ["mname", "rname"]) {
    // The deployed service accepts null for mname; null leaves the name server unchanged here.
    if (input[name] === undefined || input[name] === null) continue;
    const host = typeof input[name] === "string" ? normaliseTarget(input[name]) : null;
    if (host === null) report(problem.notAHostname(`soa.${name}`));
    edited[name] = host;
  }
  return edited;
}

/** PATCH leaves absent fields unchanged and ignores unknown fields, like all of this API. */
export function applySettingsPatch(
  current: DnsSettings,
  input: unknown,
  report: ReportProblem,
): DnsSettings {
  if (!isObject(input)) {
    report(problem.bodyNotAnObject());
    return current;
  }
  const edited: Record<string, unknown> = { ...current };
  for (const name of switches) {
    if (input[name] === undefined) continue;
    if (typeof input[name] !== "boolean") report(problem.notABoolean(name));
    edited[name] = input[name];
  }
  const { ns_ttl, zone_mode, nameservers, soa } = input;
  if (ns_ttl !== undefined) {
    edited["ns_ttl"] = acceptInteger("ns_ttl", ns_ttl, nsTtlSecondsRange, report);
  }
  if (zone_mode !== undefined) {
    if (!zoneModes.includes(zone_mode as string)) report(problem.notOneOf("zone_mode", zoneModes));
    edited["zone_mode"] = zone_mode;
  }
  if (nameservers !== undefined) {
    const type = isObject(nameservers) ? nameservers["type"] : undefined;
    const set = isObject(nameservers) ? (nameservers["ns_set"] ?? 1) : null;
    if (!nameserverTypes.includes(type as string)) {
      report(problem.notOneOf("nameservers.type", nameserverTypes));
    }
    const ns_set = acceptInteger("nameservers.ns_set", set, nameServerSetRange, report);
    edited["nameservers"] = String(type).startsWith("custom.") ? { type, ns_set } : { type };
  }
  if (soa !== undefined) edited["soa"] = applySoaPatch(current.soa, soa, report);
  return edited as unknown as DnsSettings;
}
