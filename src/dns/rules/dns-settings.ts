/** The DNS settings of a zone: the API resource `dns_settings`. */
import { problem, type ReportProblem } from "../record/problem.ts";
import { readInteger } from "../record/field/integer.ts";
import { normaliseHostname } from "../record/field/hostname.ts";
import { negativeTtlSecondsRange, nsTtlSecondsRange, soaTtlSecondsRange } from "./ttl.ts";

interface SoaSettings {
  readonly expire: number;
  readonly min_ttl: number;
  readonly mname: string;
  readonly refresh: number;
  readonly retry: number;
  readonly rname: string;
  readonly ttl: number;
}

export interface DnsSettings {
  readonly flatten_all_cnames: boolean;
  readonly foundation_dns: boolean;
  readonly multi_provider: boolean;
  readonly nameservers: { readonly type: string; readonly ns_set?: number };
  readonly ns_ttl: number;
  readonly secondary_overrides: boolean;
  readonly soa: SoaSettings;
  readonly zone_mode: string;
}

/** The values of the emulated API; clients validate against them. */
const nameserverTypes = [
  "cloudflare.standard",
  "cloudflare.advanced",
  "custom.account",
  "custom.tenant",
  "custom.zone",
];
const zoneModes = ["standard", "cdn_only", "dns_only"];

/** The deployed service's ranges. */
const nameServerSetRange = [1, 5] as const;
const soaSecondsRanges = {
  expire: [86_400, 2_419_200],
  min_ttl: negativeTtlSecondsRange,
  refresh: [600, 86_400],
  retry: [600, 86_400],
  ttl: soaTtlSecondsRange,
} as const;

export function defaultSettings(nameServers: readonly string[]): DnsSettings {
  const [primary = "ns1.ledge.local"] = nameServers;
  return {
    flatten_all_cnames: false,
    foundation_dns: false,
    multi_provider: false,
    nameservers: { type: nameserverTypes[0]! },
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

type Range = readonly [min: number, max: number];

function acceptInteger(name: string, input: unknown, range: Range, report: ReportProblem) {
  const [min, max] = range;
  const value = readInteger(input);
  if (value !== null && value >= min && value <= max) return value;
  report(problem.integerRange(name, min, max));
  return null;
}

function applySoaPatch(current: SoaSettings, input: unknown, report: ReportProblem): SoaSettings {
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
    const host = typeof input[name] === "string" ? normaliseHostname(input[name]) : null;
    if (host === null) report(problem.notAHostname(`soa.${name}`));
    edited[name] = host;
  }
  return edited as unknown as SoaSettings;
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
  for (const name of [
    "flatten_all_cnames",
    "foundation_dns",
    "multi_provider",
    "secondary_overrides",
  ]) {
    if (input[name] === undefined) continue;
    if (typeof input[name] !== "boolean") report(problem.notABoolean(name));
    edited[name] = input[name];
  }
  if (input["ns_ttl"] !== undefined) {
    edited["ns_ttl"] = acceptInteger("ns_ttl", input["ns_ttl"], nsTtlSecondsRange, report);
  }
  if (input["zone_mode"] !== undefined) {
    if (!zoneModes.includes(input["zone_mode"] as string)) {
      report(problem.notOneOf("zone_mode", zoneModes));
    }
    edited["zone_mode"] = input["zone_mode"];
  }
  if (input["nameservers"] !== undefined) {
    const { nameservers } = input;
    const type = isObject(nameservers) ? nameservers["type"] : undefined;
    const set = isObject(nameservers) ? (nameservers["ns_set"] ?? 1) : null;
    if (!nameserverTypes.includes(type as string)) {
      report(problem.notOneOf("nameservers.type", nameserverTypes));
    }
    const ns_set = acceptInteger("nameservers.ns_set", set, nameServerSetRange, report);
    edited["nameservers"] = String(type).startsWith("custom.") ? { type, ns_set } : { type };
  }
  if (input["soa"] !== undefined) edited["soa"] = applySoaPatch(current.soa, input["soa"], report);
  return edited as unknown as DnsSettings;
}
