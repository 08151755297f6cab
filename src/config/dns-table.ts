/** `[dns]` of the configuration file: the companion worker, its listeners and its secondaries. */
import { isIP } from "node:net";
import * as v from "valibot";
import { isPort } from "../base/ports.ts";
import { nearest } from "../base/nearest.ts";
import { UserError } from "../base/user-error.ts";
import { acceptRecord, recordFields } from "../dns/rules/accept-record.ts";
import { identifierSchema, type BindingNames } from "./binding-names.ts";
import {
  DnsConfigError,
  readDnsConfig,
  type dnsServerKeys,
  type DnsConfig,
  type DnsVariables,
} from "./dns-config.ts";
import {
  resolveTransfers,
  transfersSchema,
  tsigKeysSchema,
  type TransferConfig,
} from "./dns-transfers.ts";
import {
  anyTableSchema,
  describeMistake,
  integerSchema,
  isTable,
  looseTableSchema,
  parseValue,
  valueSchema,
  type Path,
  type ReportMistake,
  type Table,
} from "./schema.ts";
import { parseServer } from "./server-address.ts";

export interface ProjectDns {
  /** `[dns]` as it was written. */
  readonly table: Table;
  /** The variables of the companion worker: the table, and the secrets of `.dev.vars`. */
  readonly variables: DnsVariables;
  /** The port of `/client/v4` and `/dns-query`. */
  readonly apiPort: number;
  /** The port of the API over https; `null` without it. */
  readonly httpsPort: number | null;
  /** The port of DNS, UDP and TCP. */
  readonly port: number;
  readonly listen: ListenConfig;
  readonly transfers: TransferConfig;
  /** The name in `env` of the binding to the record API. */
  readonly binding?: string;
}

export interface ListenConfig {
  readonly hosts: readonly string[];
  /** `true` for the default hosts: those that the machine lacks are left out. */
  readonly hostsOptional: boolean;
  readonly threads?: number;
  readonly resolvers: readonly string[];
}

const apiPortDefault = 8788;
const httpsPortDefault = 8443;
const portDefault = 8053;
const hostsDefault = ["127.0.0.1", "::1"];
const threadsMax = 64;

const port = valueSchema(
  (input) => (isPort(input) ? input : null),
  "must be a port, 0 to 65535; 0 takes any free port",
);

/** The port of https, by which `false` stands for none. */
const httpsPort = v.pipe(
  valueSchema(
    (input) => (isPort(input) || typeof input === "boolean" ? input : null),
    `must be true for port ${httpsPortDefault}, or a port, 0 to 65535; 0 takes any free port`,
  ),
  v.transform((given) => (given === false ? null : given === true ? httpsPortDefault : given)),
);

const serverTable = looseTableSchema({
  api_port: v.nullish(port, apiPortDefault),
  https_port: v.nullish(httpsPort, false),
  port: v.nullish(port, portDefault),
  hosts: v.nullish(
    valueSchema(
      (input) => textsThat(input, (host) => isIP(host) !== 0),
      "must be a list of IPv4 and IPv6 addresses to listen at",
    ),
  ),
  threads: v.optional(integerSchema(1, threadsMax)),
  resolver: v.optional(
    valueSchema(
      (input) => textsThat(input, (server) => parseServer(server) !== null),
      'must be an address such as "192.0.2.53" or "192.0.2.53:5300"',
    ),
  ),
  binding: v.optional(identifierSchema),
  keys: v.optional(tsigKeysSchema, []),
  transfers: v.nullish(transfersSchema, {}),
} satisfies Record<(typeof dnsServerKeys)[number], v.GenericSchema>);

export function readDns(
  project: Table,
  secrets: Readonly<Record<string, string>>,
  names: BindingNames,
  reportMistake: ReportMistake,
): ProjectDns {
  const { given, path: origin } = findTable(project);
  const report: ReportMistake = ([, ...rest], problem) =>
    reportMistake([...origin, ...rest], problem);
  const table = parseValue(anyTableSchema, given, ["dns"], report) ?? {};
  const { DNS_EMAIL: dnsEmail, DNS_KEY: dnsKey, DNS_TOKENS: dnsTokens } = secrets;
  const variables: DnsVariables = {
    DNS_CONFIG: JSON.stringify(table),
    ...(dnsEmail !== undefined && { DNS_EMAIL: dnsEmail }),
    ...(dnsKey !== undefined && { DNS_KEY: dnsKey }),
    ...(dnsTokens !== undefined && { DNS_TOKENS: dnsTokens }),
  };
  checkVariables(variables, report);
  const parsed = parseValue(serverTable, table, ["dns"], report) ?? v.parse(serverTable, {});
  const { hosts, threads, binding } = parsed;
  const isOwn = origin[0] === "dns";
  if (isOwn) names.claim(table["binding"], ["dns", "binding"], report);
  return {
    table,
    variables,
    apiPort: parsed.api_port,
    httpsPort: parsed.https_port,
    port: parsed.port,
    listen: {
      hosts: hosts ?? hostsDefault,
      hostsOptional: !hosts,
      resolvers: parsed.resolver ?? [],
      ...(threads !== undefined && { threads }),
    },
    transfers: resolveTransfers(parsed.keys, parsed.transfers, report),
    ...(isOwn && binding !== undefined && { binding }),
  };
}

/**
 * `[dns]`, or without it the options of a binding for stock tools: one file serves all tools, and all
 * tools share the zones.
 */
function findTable({ dns, unsafe }: Table): { readonly given: unknown; readonly path: Path } {
  if (dns !== undefined) return { given: dns, path: ["dns"] };
  const bindings = isTable(unsafe) && Array.isArray(unsafe["bindings"]) ? unsafe["bindings"] : [];
  for (const [index, { dev }] of bindings.filter(isTable).entries()) {
    const plugin = isTable(dev) ? dev["plugin"] : null;
    if (!isTable(dev) || !isTable(plugin) || plugin["name"] !== "dns") continue;
    return { given: dev["options"] ?? {}, path: ["unsafe", "bindings", index, "dev", "options"] };
  }
  return { given: {}, path: ["dns"] };
}

/** Reads the variables as the companion worker does. */
function checkVariables(variables: DnsVariables, report: ReportMistake): void {
  try {
    checkRecords(readDnsConfig(variables), report);
  } catch (error) {
    if (!(error instanceof DnsConfigError)) throw error;
    const inTable = error.mistakes.filter(({ path }) => path[0] === "dns");
    for (const { path, problem } of inTable) report(path, problem);
    // The position of a secret is unknown, so its mistakes wait until the table has none.
    if (inTable.length > 0) return;
    const lines = error.mistakes.map((mistake) => `.dev.vars: ${describeMistake(mistake)}`);
    throw new UserError(lines.join("\n"));
  }
}

/** The worker creates these records at its first request, which is late for a message. */
function checkRecords(config: DnsConfig, report: ReportMistake): void {
  for (const [zoneIndex, { name: zoneName, records }] of config.zones.entries()) {
    for (const [index, record] of records.entries()) {
      const path = ["dns", "zones", zoneIndex, "records", index];
      const misspelt = misspeltFields(record);
      for (const [field, guess] of misspelt) {
        report([...path, field], `is not a key; did you mean "${guess}"?`);
      }
      // The record API ignores a misspelt field, so its problems would be those of a missing field.
      if (misspelt.length > 0) continue;
      const problems: string[] = [];
      acceptRecord(record, { ...config, zoneName }, ({ message }) => problems.push(message));
      if (problems.length === 0) continue;
      report(path, `is not a valid record of ${zoneName}: ${problems.join(" ")}`);
    }
  }
}

/** Fields of a record in an answer of the record API, which a user may paste. They have no effect. */
const answerFields = ["id", "meta", "proxiable", "locked", "created_on", "modified_on"];

/** Unknown fields that are close to a field of a record, each with that field. */
function misspeltFields(record: object): [field: string, guess: string][] {
  const known = new Set<string>([...recordFields, ...answerFields]);
  const unknown = Object.keys(record).filter((field) => !known.has(field));
  return unknown.flatMap((field) => {
    const guess = nearest(field, recordFields);
    return guess === null ? [] : [[field, guess]];
  });
}

/** One text or a list of texts, each of which `test` accepts. */
function textsThat(input: unknown, test: (text: string) => boolean): readonly string[] | null {
  const texts: unknown = typeof input === "string" ? [input] : input;
  if (!Array.isArray(texts) || texts.length === 0) return null;
  return texts.every((item) => typeof item === "string" && test(item)) ? texts : null;
}
