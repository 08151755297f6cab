/**
 * A zone: in the index of zones, as JSON in responses with the account that it belongs to, and as the
 * plain data that zone objects publish and served zones are built from.
 */
import type { ZoneSigning } from "../dnssec/zone-signing.ts";
import { normaliseHostname } from "../record/fields.ts";
import { problem, type ReportProblem } from "../record/problem.ts";
import { isDnsName, toAsciiName, withoutFinalDot } from "../record/record-name.ts";
import type { ZoneRecord } from "../record/zone-record.ts";
import type { DnsSettings, servedDnsSettings } from "./zone-settings.ts";

export interface Zone {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly paused: boolean;
  readonly nameServers: readonly string[];
  readonly vanityNameServers: readonly string[];
  readonly createdOn: string;
  readonly modifiedOn: string;
  /** Later than every serial that a zone of this name had. */
  readonly firstSerial: number;
}

const zoneTypes = ["full", "partial", "secondary", "internal"];

/** RFC 952 and RFC 1123: hyphens stand inside a label. Underscores and RFC 2317 names are DNS names. */
const edgeHyphen = /(?:^|\.)-|-(?:\.|$)/;

/**
 * Returns lower-case punycode. A zone name has no wildcard and at least two labels: the deployed
 * service refuses top-level domains.
 */
export function acceptZoneName(input: unknown, report: ReportProblem): string | undefined {
  if (input === undefined || input === null) {
    report(problem.requiredField("name"));
    return undefined;
  }
  const name = typeof input === "string" ? withoutFinalDot(toAsciiName(input.trim())) : "";
  const isDomain = name.includes(".") && !edgeHyphen.test(name);
  if (!isDomain || !isDnsName(name) || normaliseHostname(name) === null) {
    report(problem.zoneNameInvalid());
    return undefined;
  }
  return name;
}

export function acceptZoneType(input: unknown, report: ReportProblem): string {
  if (input === undefined || input === null) return "full";
  const type = zoneTypes.find((known) => known === input);
  if (type === undefined) report(problem.notOneOf("type", zoneTypes));
  return type ?? "full";
}

export function applyZonePatch(
  zone: Zone,
  input: Readonly<Record<string, unknown>>,
  report: ReportProblem,
): Zone {
  const paused = input["paused"] ?? zone.paused;
  if (typeof paused !== "boolean") report(problem.notABoolean("paused"));
  const given = input["vanity_name_servers"] ?? zone.vanityNameServers;
  const servers: string[] = [];
  if (!Array.isArray(given)) report(problem.notAList("vanity_name_servers", "hostnames"));
  else {
    for (const server of given) {
      const name = typeof server === "string" ? normaliseHostname(server) : null;
      if (name === null) report(problem.notAHostname("vanity_name_servers"));
      else servers.push(name);
    }
  }
  const type = acceptZoneType(input["type"] ?? zone.type, report);
  return { ...zone, paused: paused as boolean, type, vanityNameServers: servers };
}

export const plan = {
  id: "0feeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
  name: "Local",
  price: 0,
  currency: "USD",
  frequency: "",
  is_subscribed: false,
  can_subscribe: false,
  legacy_id: "free",
  legacy_discount: false,
  externally_managed: false,
};

/** Deviation: a zone is active at once, without a registrar, and there is only one plan. */
export function describeZone(zone: Zone, account: Account): Record<string, unknown> {
  return {
    id: zone.id,
    name: zone.name,
    status: "active",
    paused: zone.paused,
    type: zone.type,
    development_mode: 0,
    name_servers: zone.nameServers,
    original_name_servers: null,
    original_registrar: null,
    original_dnshost: null,
    modified_on: zone.modifiedOn,
    created_on: zone.createdOn,
    activated_on: zone.createdOn,
    vanity_name_servers: zone.vanityNameServers,
    vanity_name_servers_ips: null,
    meta: {
      step: 4,
      custom_certificate_quota: 0,
      page_rule_quota: 0,
      phishing_detected: false,
    },
    owner: { id: account.id, type: "user", email: account.email },
    account: { id: account.id, name: account.name },
    tenant: { id: null, name: null },
    tenant_unit: { id: null },
    permissions: ["#dns_records:edit", "#dns_records:read", "#zone:edit", "#zone:read"],
    plan,
  };
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/**
 * The forms apply to request headers and to the configuration: no request could send a configured
 * secret of another form.
 */
export const emailPattern = /^[^\s@]+@[^\s@]+$/;
export const keyPattern = /^[A-Za-z0-9_-]{16,128}$/;
export const tokenPattern = /^[\x21-\x7e]{8,512}$/;

/** The fields of a record that answers depend on. */
export type ServedRecord = Pick<
  ZoneRecord,
  "id" | "name" | "type" | "content" | "priority" | "ttl" | "proxied" | "settings"
>;

/** The part of a zone that is not records. */
export interface ZoneHead {
  /** The name servers of the zone. The apex NS set has them without a record. */
  readonly nameServers: readonly string[];
  readonly settings: Pick<DnsSettings, (typeof servedDnsSettings)[number]>;
  readonly http2: boolean;
  readonly http3: boolean;
  /** A paused zone proxies nothing: proxied names are answered with their own records. */
  readonly paused: boolean;
  readonly signing?: ZoneSigning | undefined;
}

export interface ZoneData extends ZoneHead {
  readonly id: string;
  readonly name: string;
  readonly serial: number;
  readonly records: readonly ServedRecord[];
}

/** The change that leads to a serial. Records are removed by id before others are added. */
export interface ZoneChange {
  readonly serial: number;
  readonly removed: readonly Pick<ServedRecord, "id" | "name">[];
  readonly added: readonly ServedRecord[];
  readonly head?: ZoneHead;
}
