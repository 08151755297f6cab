/**
 * `[dns]` of the configuration file: the variables of the companion worker, the listeners, and the
 * secondaries.
 *
 *     [[dns.keys]]                 # of TSIG
 *     name = "to-bind"
 *     algorithm = "hmac-sha256"
 *     secret = "…"                 # base64
 *
 *     [dns.transfers]              # who may transfer zones, and who gets a NOTIFY after a change
 *     allow = ["127.0.0.1", "10.0.0.0/8", "key:to-bind"]
 *     notify = [{ address = "127.0.0.1:5301", key = "to-bind" }]
 *     catalog = "catalog.example"  # a zone that lists the zones (`src/dns/rules/catalog.ts`)
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import * as v from "valibot";
import { nearest } from "../../base/nearest.ts";
import { isPort, portMax } from "../../base/ports.ts";
import {
  anyTableSchema,
  described,
  describeMistake,
  identifierSchema,
  listSchema,
  looseTableSchema,
  nullish,
  optional,
  parseValue,
  tableSchema,
  textSchema,
  valueSchema,
  type ReportMistake,
  type Table,
} from "../../base/schema.ts";
import { UserError } from "../../base/user-error.ts";
import { normaliseHostname } from "../record/fields.ts";
import { acceptRecord, recordFields } from "../rules/accept-record.ts";
import { isTsigAlgorithm, type TsigKey } from "../wire/tsig.ts";
import {
  catalogName,
  DnsConfigError,
  dnsEntries,
  readDnsConfig,
  type DnsConfig,
  type dnsServerKeys,
  type DnsVariables,
} from "./dns-config.ts";

export interface ProjectDns {
  /** `[dns]` as it was written. */
  readonly table: Table;
  /** The variables of the companion worker: the table, and the secrets of `.dev.vars`. */
  readonly variables: DnsVariables;
  readonly apiPort: number;
  /** The port of the API over https; `null` without it. */
  readonly httpsPort: number | null;
  /** The port of DNS over TLS; `null` without it. */
  readonly tlsPort: number | null;
  readonly port: number;
  readonly listen: ListenConfig;
  readonly transfers: TransferConfig;
  readonly binding?: string;
}

interface ListenConfig {
  readonly hosts: readonly string[];
  /** `true` for the default hosts: those that the machine lacks are left out. */
  readonly hostsOptional: boolean;
  readonly resolvers: readonly string[];
}

export interface TransferConfig {
  readonly keys: readonly TsigKey[];
  /** Addresses, networks (`10.0.0.0/8`) and keys (`key:NAME`). A client needs to match one. */
  readonly allow: readonly string[];
  readonly secondaries: readonly Secondary[];
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface Secondary extends ServerAddress {
  readonly key?: TsigKey;
}

const apiPortDefault = 8788;
const httpsPortDefault = 8443;
const tlsPortDefault = 8853;
const portDefault = 8053;
const hostsDefault = ["127.0.0.1", "::1"];
/** For secondaries on this machine. Its other users can ask for names one by one anyway. */
const allowDefault = ["127.0.0.1", "::1"];
const keyPrefix = "key:";

const portKeywords = { type: "integer", minimum: 0, maximum: portMax };
const port = valueSchema(
  (input) => (isPort(input) ? input : null),
  "must be a port, 0 to 65535; 0 takes any free port",
  portKeywords,
);

/** A port that is open when the configuration asks for it. `false` stands for none. */
function optionalPort(portIfTrue: number) {
  return v.pipe(
    valueSchema(
      (input) => (isPort(input) || typeof input === "boolean" ? input : null),
      `must be true for port ${portIfTrue}, or a port, 0 to 65535; 0 takes any free port`,
      { anyOf: [{ type: "boolean" }, portKeywords] },
    ),
    v.transform((given) => (given === false ? null : given === true ? portIfTrue : given)),
  );
}

/** One text or a list of texts, each of which `test` accepts. */
function textsThat(test: (text: string) => boolean, problem: string) {
  return valueSchema(
    (input): readonly string[] | null => {
      const texts: unknown = typeof input === "string" ? [input] : input;
      if (!Array.isArray(texts) || texts.length === 0) return null;
      return texts.every((item) => typeof item === "string" && test(item)) ? texts : null;
    },
    problem,
    { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
  );
}

const tsigAlgorithms = ["hmac-sha256", "hmac-sha384", "hmac-sha512", "hmac-sha1"];

const tsigKeys = listSchema(
  tableSchema(
    {
      name: described(
        "The name of the key.",
        textSchema(normaliseHostname, 'must be a name such as "to-bind"'),
      ),
      algorithm: optional(
        "The algorithm.",
        textSchema(
          (name) => (isTsigAlgorithm(name) ? name : null),
          'must be "hmac-sha256", "hmac-sha384", "hmac-sha512" or "hmac-sha1"',
          { enum: tsigAlgorithms },
        ),
        "hmac-sha256",
      ),
      secret: described(
        "The secret, in base64.",
        textSchema(parseSecret, "must be base64 that is not empty"),
      ),
    },
    { name: "to-bind", secret: "c2VjcmV0" },
  ),
  "must be a list of tables",
);

const secondary = tableSchema(
  {
    address: described(
      "ADDRESS:PORT",
      textSchema(parseServer, 'must be an address such as "127.0.0.1:5301"'),
    ),
    key: optional(
      "The name of a key.",
      textSchema((name) => name, "must be the name of a key"),
    ),
  },
  { address: "127.0.0.1:5301" },
);

const transfersTable = tableSchema({
  allow: nullish(
    "Addresses, networks, and keys as key:NAME.",
    listSchema(
      textSchema(parseAllowed, 'must be an address, a network such as "10.0.0.0/8", or "key:NAME"'),
    ),
    allowDefault,
  ),
  notify: optional(
    "Servers that get a NOTIFY after a change.",
    listSchema(secondary, "must be a list of tables"),
    [],
  ),
  catalog: optional(
    "The name of a catalog zone, from which secondaries learn which zones there are.",
    catalogName,
  ),
});

const serverEntries = {
  api_port: nullish(
    "The port of the record API and of DNS over HTTPS; 0 is any free port.",
    port,
    apiPortDefault,
  ),
  https_port: nullish(
    `The port of the record API over https: true is ${httpsPortDefault}, 0 is any free port.`,
    optionalPort(httpsPortDefault),
    false,
  ),
  port: nullish("The port of UDP and TCP; 0 is any free port.", port, portDefault),
  tls_port: nullish(
    `The port of DNS over TLS: true is ${tlsPortDefault}, 0 is any free port.`,
    optionalPort(tlsPortDefault),
    false,
  ),
  hosts: nullish(
    "The addresses on which the name server listens.",
    textsThat((host) => isIP(host) !== 0, "must be a list of IPv4 and IPv6 addresses to listen at"),
  ),
  resolver: optional(
    "The resolvers of external names: an address, or a list of addresses.",
    textsThat(
      (server) => parseServer(server) !== null,
      'must be an address such as "192.0.2.53" or "192.0.2.53:5300"',
    ),
  ),
  binding: optional("A name in env for the record API.", identifierSchema),
  keys: optional("TSIG keys, for transfers.", tsigKeys, []),
  transfers: nullish(
    "Secondaries: who may transfer zones, and who is told of changes.",
    transfersTable,
    {},
  ),
} satisfies Record<(typeof dnsServerKeys)[number], v.GenericSchema>;

const serverTable = looseTableSchema(serverEntries);

export const dnsSchema = described(
  "The name server and the record API.",
  tableSchema({ ...serverEntries, ...dnsEntries }),
);

/**
 * @param given the table as it was written
 * @param secrets of `.dev.vars`
 * @param report receives paths that begin with `dns`
 */
export function readDnsTable(
  given: unknown,
  secrets: Readonly<Record<string, string>>,
  report: ReportMistake,
): ProjectDns {
  const table = parseValue(anyTableSchema, given, ["dns"], report) ?? {};
  const { DNS_EMAIL, DNS_KEY, DNS_TOKENS } = secrets;
  const secretVariables = Object.entries({ DNS_EMAIL, DNS_KEY, DNS_TOKENS });
  const variables: DnsVariables = {
    DNS_CONFIG: JSON.stringify(table),
    // The companion worker gets a binding for each variable, so an absent secret has no key.
    ...Object.fromEntries(secretVariables.filter(([, secret]) => secret !== undefined)),
  };
  checkVariables(variables, report);
  const parsed = parseValue(serverTable, table, ["dns"], report) ?? v.parse(serverTable, {});
  const { hosts, binding } = parsed;
  return {
    table,
    variables,
    apiPort: parsed.api_port,
    httpsPort: parsed.https_port,
    tlsPort: parsed.tls_port,
    port: parsed.port,
    listen: {
      hosts: hosts ?? hostsDefault,
      hostsOptional: !hosts,
      resolvers: parsed.resolver ?? [],
    },
    transfers: resolveTransfers(parsed.keys, parsed.transfers, report),
    binding,
  };
}

function checkVariables(variables: DnsVariables, report: ReportMistake): void {
  try {
    const config = readDnsConfig(variables);
    checkRecords(config, report);
    if (config.zones.some(({ name }) => name === config.catalog)) {
      report(["dns", "transfers", "catalog"], "is the name of a zone in dns.zones");
    }
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

/** Node's decoder drops characters that are not base64, which would shorten the secret. */
export function parseSecret(secret = ""): Uint8Array | null {
  const octets = Buffer.from(secret, "base64");
  const isWhole = octets.toString("base64").startsWith(secret.replace(/=+$/, ""));
  return octets.length > 0 && isWhole ? new Uint8Array(octets) : null;
}

function parseAllowed(entry: string): string | null {
  const allowed = entry.toLowerCase();
  if (allowed.startsWith(keyPrefix)) return allowed;
  const [address = "", bits, more] = allowed.split("/");
  const width = isIP(address) === 4 ? 32 : 128;
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width);
  return isIP(address) !== 0 && isNetwork && more === undefined ? allowed : null;
}

function resolveTransfers(
  keys: readonly TsigKey[],
  { allow, notify }: v.InferOutput<typeof transfersTable>,
  report: ReportMistake,
): TransferConfig {
  const find = (name: string): TsigKey | undefined =>
    keys.find((key) => key.name === name.toLowerCase());
  for (const [index, entry] of allow.entries()) {
    const name = entry.startsWith(keyPrefix) ? entry.slice(keyPrefix.length) : null;
    if (name === null || find(name) !== undefined) continue;
    report(["dns", "transfers", "allow", index], `is "${name}", which is not in dns.keys`);
  }
  const secondaries = notify.map(({ address, key: name }, index): Secondary => {
    if (name === undefined) return address;
    const key = find(name);
    if (key !== undefined) return { ...address, key };
    const path = ["dns", "transfers", "notify", index, "key"];
    report(path, `is ${JSON.stringify(name)}, which is not in dns.keys`);
    return address;
  });
  return { keys, allow, secondaries };
}

const dnsPort = 53;
const hostName = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?\.?$/i;

/** `192.0.2.53`, `192.0.2.53:5300`, `2001:db8::53` or `[2001:db8::53]:5300`. */
export function parseServer(text: string): ServerAddress | null {
  const server = splitServer(text);
  return server !== null && isIP(server.host) !== 0 ? server : null;
}

/** Parses the same forms, or looks up the name of a host, with or without a port. */
export async function lookUpServer(
  text: string,
  portIfMissing?: number,
): Promise<ServerAddress | null> {
  const server = splitServer(text, portIfMissing);
  if (server === null || isIP(server.host) !== 0) return server;
  if (!hostName.test(server.host)) return null;
  try {
    const { address } = await lookup(server.host);
    return { host: address, port: server.port };
  } catch {
    return null;
  }
}

function splitServer(text: string, portIfMissing = dnsPort): ServerAddress | null {
  const [, host = text, number = String(portIfMissing)] =
    /^\[(.+)\]:(\d{1,5})$/.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  return isPort(Number(number)) && Number(number) > 0 ? { host, port: Number(number) } : null;
}
