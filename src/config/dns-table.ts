/**
 * `[dns]`. Its meaning is the companion worker's, which checks it by rules of its own; here are
 * the keys for what stands around that worker, and the places of its complaints.
 */
import { ConfigError, readConfig, type ConfigVariables, type DnsConfig } from "./dns-config.ts";
import { acceptRecord } from "../dns/rules/accept-record.ts";
import { readListenConfig, type ListenConfig } from "./dns-listen.ts";
import { readTransferConfig, type TransferConfig } from "./dns-transfers.ts";
import { isPort } from "../base/ports.ts";
import { UserError } from "../base/user-error.ts";
import type { BoundNames } from "./bound-names.ts";
import { isTable, type Table } from "./config-file.ts";
import { isIdentifier, notIdentifier } from "./identifier.ts";
import { kindOf, sentence, type Report } from "./mistakes.ts";
import type { Path } from "./place.ts";

export interface ProjectDns {
  /** `[dns]` as it was written. */
  readonly table: Table;
  /** What the companion worker is given: the table, and secrets of `.dev.vars`. */
  readonly variables: ConfigVariables;
  /** Of `/client/v4` and `/dns-query`. */
  readonly apiPort: number;
  /** Of DNS itself, UDP and TCP. */
  readonly port: number;
  readonly listen: ListenConfig;
  readonly transfers: TransferConfig;
  /** The name of `env` that the record API is bound to, if any. */
  readonly binding?: string;
}

const defaultPorts = { api_port: 8788, port: 8053 } as const;

export function readDns(
  { dns: given = {} }: Table,
  secrets: Readonly<Record<string, string>>,
  names: BoundNames,
  report: Report,
): ProjectDns {
  if (!isTable(given)) report(["dns"], `must be a table, not ${kindOf(given)}.`);
  const table = isTable(given) ? given : {};
  const { DNS_EMAIL: dnsEmail, DNS_KEY: dnsKey, DNS_TOKENS: dnsTokens } = secrets;
  const variables: ConfigVariables = {
    DNS_CONFIG: JSON.stringify(table),
    ...(dnsEmail !== undefined && { DNS_EMAIL: dnsEmail }),
    ...(dnsKey !== undefined && { DNS_KEY: dnsKey }),
    ...(dnsTokens !== undefined && { DNS_TOKENS: dnsTokens }),
  };
  try {
    reportRecords(readConfig(variables), report);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const mistake of error.mistakes) {
      // Secrets are read when the table is sound, so nothing that was found is lost.
      if (mistake.startsWith("DNS_")) throw new UserError(`.dev.vars: ${sentence(mistake)}`);
      const end = mistake.indexOf(" ");
      report(pathOf(mistake.slice(0, end)), sentence(mistake.slice(end + 1)));
    }
  }
  const { binding } = table;
  return {
    table,
    variables,
    apiPort: readPort(table, "api_port", report),
    port: readPort(table, "port", report),
    listen: readListenConfig(table, report),
    transfers: readTransferConfig(table, report),
    ...(binding !== undefined && { binding: readBinding(binding, names, report) }),
  };
}

/** The worker makes these records at first use; here it is early enough to say what is wrong. */
function reportRecords(config: DnsConfig, report: Report): void {
  for (const [zoneIndex, { name: zoneName, records }] of config.zones.entries()) {
    for (const [index, record] of records.entries()) {
      const problems: string[] = [];
      acceptRecord(record, { ...config, zoneName }, ({ message }) => problems.push(message));
      if (problems.length === 0) continue;
      const path = ["dns", "zones", zoneIndex, "records", index];
      report(path, `is no record of ${zoneName}: ${sentence(problems.join(" "))}`);
    }
  }
}

function readPort(table: Table, key: keyof typeof defaultPorts, report: Report): number {
  const port = table[key] ?? defaultPorts[key];
  if (isPort(port)) return port;
  report(["dns", key], "must be a port, 0 to 65535; 0 takes any that is free.");
  return 0;
}

function readBinding(binding: unknown, names: BoundNames, report: Report): string {
  const path = ["dns", "binding"];
  if (typeof binding !== "string") {
    report(path, `must be text, not ${kindOf(binding)}.`);
    return "";
  }
  const problem = isIdentifier(binding) ? names.claim(binding, path) : notIdentifier(binding);
  if (problem !== null) report(path, problem);
  return binding;
}

/** `dns.zones[0].name` → `["dns", "zones", 0, "name"]` */
function pathOf(place: string): Path {
  return Array.from(place.matchAll(/\[(\d+)\]|[^.[\]]+/g), ([step, index]) =>
    index === undefined ? step : Number(index),
  );
}
