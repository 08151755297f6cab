/** The DNS settings of a zone: the API resource `dns_settings`. */
import { problem, type ReportProblem } from "../record/problem.ts";
import { readInteger, normaliseHostname } from "../record/fields.ts";
import {
  negativeTtlSecondsRange,
  nsTtlSecondsRange,
  soaTtlSecondsRange,
} from "../record/zone-record.ts";

export type DnsSettings = Readonly<ReturnType<typeof defaultSettings>>;

/** The values of the emulated API; clients validate against them. */
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
    const host = typeof input[name] === "string" ? normaliseHostname(input[name]) : null;
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
