/**
 * The part of `[dns]` that configures the companion worker. The worker reads the table from the
 * variable `DNS_CONFIG`, as JSON. Node checks the same variables before it starts the worker.
 */
import * as v from "valibot";
import { isOrigin } from "../../base/host-rule.ts";
import { commentCharactersMaxDefault, tagsMaxDefault } from "../rules/accept-record.ts";
import { formatIpv4, formatIpv6, parseIpv4, parseIpv6 } from "../record/ip-address.ts";
import { readInteger, normaliseHostname } from "../record/fields.ts";
import type { NameRules } from "../record/record-name.ts";
import { emailPattern, keyPattern, tokenPattern } from "../rules/zone.ts";
import type { ApiFault } from "../rules/api-call.ts";
import {
  anyTableSchema,
  booleanSchema,
  described,
  fieldName,
  integerSchema,
  listSchema,
  looseTableSchema,
  nullish,
  oneOfSchema,
  optional,
  parseValue,
  tableSchema,
  textMatchingSchema,
  textSchema,
  valueSchema,
  type Mistake,
  type ReportMistake,
} from "../../base/schema.ts";

/** The variables of the worker. Secrets may have variables of their own, from `.dev.vars`. */
export interface DnsVariables {
  /** The `[dns]` table as JSON; the defaults apply without it. */
  readonly DNS_CONFIG?: string;
  readonly DNS_EMAIL?: string;
  readonly DNS_KEY?: string;
  /** A list as JSON, in the form of `tokens`; added to the tokens of the table. */
  readonly DNS_TOKENS?: string;
}

/** Everyone knows it, so it may be printed. It keeps clients working that cannot do without a key. */
export const apiKeyDefault = "0123456789abcdef0123456789abcdef01234";
/** The host of the deployed service, which some clients call whatever they are told. */
const httpsNamesDefault = ["api.cloudflare.com"];
/** Where the dev server listens unless told otherwise, and so the edge. */
const platformAddressesDefault = ["127.0.0.1"];
/** The quota that the deployed service gives large zones. A local zone needs no smaller quota. */
const recordQuotaDefault = 1_000_000;
/** The largest batch of the deployed service. */
const batchQuotaDefault = 3500;
const faultDelayMillisecondsMax = 60_000;

const email = textMatchingSchema(emailPattern, "must be an e-mail address");
const apiKey = textMatchingSchema(
  keyPattern,
  "must have 16 to 128 letters, digits, hyphens and underscores",
);
const bearerToken = textMatchingSchema(
  tokenPattern,
  "must have 8 to 512 characters, and no spaces",
);
const hostname = textSchema(normaliseHostname, "must be a hostname");
const httpsName = textSchema(
  (given) => (given.startsWith("*") ? null : normaliseHostname(given)),
  "must be a hostname, and no wildcard",
);
/** A name of a member takes up to 54 octets more (`src/dns/rules/catalog.ts`). */
const catalogCharactersMax = 190;
export const catalogName = textSchema((given) => {
  const name = given.startsWith("*") ? null : normaliseHostname(given);
  return name === null || name.length > catalogCharactersMax ? null : name;
}, `must be a hostname of at most ${catalogCharactersMax} characters, and no wildcard`);
const count = valueSchema(
  (input) => {
    const number = readInteger(input);
    return number === null || number < 0 ? null : number;
  },
  "must be a whole number, 0 or more",
  { type: "integer", minimum: 0 },
);

const address = textSchema((given) => {
  const [ipv4, ipv6] = [parseIpv4(given), parseIpv6(given)];
  if (ipv4 !== null) return formatIpv4(ipv4);
  return ipv6 === null ? null : formatIpv6(ipv6);
}, "must be an IPv4 or IPv6 address");

/** A host of URLs: `base/host-rule.ts` compares it with the `Host` header. */
const apiHost = textSchema((given) => {
  const ipv6 = parseIpv6(given.replace(/^\[(.*)\]$/, "$1"));
  if (ipv6 !== null) return formatIpv6(ipv6);
  return parseIpv4(given) === null ? normaliseHostname(given) : given;
}, "must be a host name or an address, without a port");

const apiOrigin = textSchema(
  (given) => (isOrigin(given) ? given : null),
  'must be an origin such as "http://app.example:3000", in lower case and without a path',
);

const tokens = listSchema(
  v.pipe(
    tableSchema(
      {
        token: described("The token: 8 to 512 characters.", bearerToken),
        zones: optional(
          "Names or ids of zones; without the list, all zones.",
          listSchema(hostname),
        ),
        read_only: nullish("The token reads and does not write.", booleanSchema, false),
      },
      { token: "local-token" },
    ),
    // `zones` has names or ids; `null` stands for every zone.
    v.transform(({ token, zones = null, read_only: readOnly }) => ({ token, zones, readOnly })),
  ),
);

/** The record API checks a record. The keywords are for editors. */
const record = described("A record that is created at the start.", anyTableSchema, {
  type: "object",
  properties: {
    type: { type: "string", description: "The type of the record: A, AAAA, CNAME, MX, TXT, …" },
    name: { type: "string", description: 'The name; "@" is the zone.' },
    content: { type: "string", description: "The content, in presentation format." },
    ttl: { type: "integer", description: "Seconds; 1 is automatic." },
    priority: { type: "integer", description: "The priority of MX, SRV and URI." },
    proxied: { type: "boolean", description: "Whether the name leads to the edge." },
  },
  required: ["type", "name"],
});

const zones = listSchema(
  tableSchema(
    {
      name: described("The name of the zone.", hostname),
      records: nullish("Records that are created at the start.", listSchema(record), []),
    },
    { name: "example.com" },
  ),
);

const faultCount = integerSchema(0, Number.MAX_SAFE_INTEGER);

const faults = listSchema(
  v.pipe(
    looseTableSchema({
      method: nullish("The method of the request.", v.string("must be text"), null),
      path: optional(
        'A pattern of the path, such as "*/dns_records".',
        v.string("must be text"),
        "*",
      ),
      status: nullish("The status of the response.", integerSchema(400, 599), null),
      delay_ms: nullish("A delay.", integerSchema(0, faultDelayMillisecondsMax), 0),
      after: nullish("The number of requests that are answered first.", faultCount, 0),
      times: nullish("The number of requests that fail.", faultCount, null),
      when: optional(
        "Whether the request is executed.",
        oneOfSchema(["before", "after"]),
        "before",
      ),
    }),
    v.check(
      ({ status, delay_ms: delay }) => status !== null || delay > 0,
      "needs a status or a delay_ms",
    ),
    v.transform(({ method, delay_ms: delayMilliseconds, ...rest }): ApiFault => {
      return { ...rest, method: method?.toUpperCase() ?? null, delayMilliseconds };
    }),
  ),
);

/** For faults that come from a request and not from the configuration. */
export function parseFaults(input: unknown, report: ReportMistake): ApiFault[] | null {
  return parseValue(faults, input, ["faults"], report);
}

/** The keys of `[dns]` that the dev server reads (`dns-table.ts`). The worker ignores them. */
export const dnsServerKeys = [
  "api_port",
  "https_port",
  "port",
  "tls_port",
  "hosts",
  "resolver",
  "binding",
  "keys",
  "transfers",
] as const;

/** The defaults are for local use: a project without a `[dns]` table needs no credentials. */
export const dnsEntries = {
  email: optional("The e-mail address of the owner.", email, "dev@ledge.local"),
  key: optional("The key of the owner.", apiKey, apiKeyDefault),
  tokens: optional("Tokens of the record API.", tokens, []),
  api_hosts: optional("Hosts besides loopback for which the API answers.", listSchema(apiHost), []),
  api_origins: optional("Origins whose pages may use the API.", listSchema(apiOrigin), []),
  https_names: optional(
    "Names besides loopback by which clients call the API over https.",
    listSchema(httpsName),
    httpsNamesDefault,
  ),
  platform_addresses: optional(
    "The addresses of proxied names.",
    listSchema(address),
    platformAddressesDefault,
  ),
  name_rules: optional(
    "The rule for names of records: letters and digits, or any octets.",
    oneOfSchema<NameRules>(["strict", "dns"]),
    "strict",
  ),
  name_servers: optional("The name servers of new zones.", listSchema(hostname), [
    "ns1.ledge.local",
    "ns2.ledge.local",
  ]),
  zones: optional("Zones that are created at the start.", zones, []),
  comment_length: optional(
    "The maximum number of characters of a comment.",
    count,
    commentCharactersMaxDefault,
  ),
  tag_quota: optional("The maximum number of tags of a record.", count, tagsMaxDefault),
  record_quota: optional("The maximum number of records of a zone.", count, recordQuotaDefault),
  batch_quota: optional("The maximum number of operations of a batch.", count, batchQuotaDefault),
  faults: optional("Failures of the record API, on demand.", faults, []),
};

const ignored = Object.fromEntries(dnsServerKeys.map((key) => [key, v.optional(v.unknown())]));
/** The key that the worker reads, too. `dns-table.ts` reports its mistakes. */
const withCatalog = v.object({ transfers: v.object({ catalog: catalogName }) });

/** `null`: the server has no catalog. */
function readCatalog(table: object): string | null {
  const { success, output } = v.safeParse(withCatalog, table);
  return success ? output.transfers.catalog : null;
}

const dnsTable = v.pipe(
  tableSchema({ ...dnsEntries, ...ignored }),
  v.transform((given) => ({
    email: given.email,
    key: given.key,
    tokens: given.tokens,
    hostRule: { hosts: given.api_hosts, origins: given.api_origins },
    httpsNames: given.https_names,
    platformAddresses: given.platform_addresses,
    nameRules: given.name_rules,
    nameServers: given.name_servers,
    zones: given.zones,
    commentCharactersMax: given.comment_length,
    tagsMax: given.tag_quota,
    recordQuota: given.record_quota,
    batchQuota: given.batch_quota,
    faults: given.faults,
    catalog: readCatalog(given),
  })),
  v.readonly(),
);

export type DnsConfig = v.InferOutput<typeof dnsTable>;

const variablesSchema = v.object({
  DNS_CONFIG: v.optional(json(dnsTable), "{}"),
  DNS_EMAIL: v.optional(email),
  DNS_KEY: v.optional(apiKey),
  DNS_TOKENS: v.optional(json(tokens), "[]"),
});

function json<Output>(schema: v.GenericSchema<unknown, Output>) {
  return v.pipe(v.string(), v.parseJson(undefined, "is not JSON"), schema);
}

/** Lists every mistake. The path of a mistake inside the table of `DNS_CONFIG` begins with `dns`. */
export class DnsConfigError extends Error {
  override name = "DnsConfigError";
  readonly mistakes: readonly Mistake[];

  constructor(mistakes: readonly Mistake[]) {
    super(mistakes.map(({ path, problem }) => `${fieldName(path)} ${problem}`).join("; "));
    this.mistakes = mistakes;
  }
}

const variableNames = Object.keys(variablesSchema.entries) as (keyof DnsVariables)[];

/** The last result. Every zone object of the worker reads the same variables. */
let last: { readonly variables: DnsVariables; readonly config: DnsConfig } | null = null;

/** @throws DnsConfigError */
export function readDnsConfig(variables: DnsVariables): DnsConfig {
  if (last === null || variableNames.some((name) => last?.variables[name] !== variables[name])) {
    last = { variables: { ...variables }, config: parseVariables(variables) };
  }
  return last.config;
}

function parseVariables(variables: DnsVariables): DnsConfig {
  // An empty variable counts as absent.
  const present = Object.entries(variables).filter(([, content]) => content !== "");
  const mistakes: Mistake[] = [];
  const parsed = parseValue(variablesSchema, Object.fromEntries(present), [], (path, problem) => {
    const [variable, ...steps] = path;
    const isInTable = variable === "DNS_CONFIG" && steps.length > 0;
    mistakes.push({ path: isInTable ? ["dns", ...steps] : path, problem });
  });
  if (parsed === null) throw new DnsConfigError(mistakes);
  const { DNS_CONFIG: config, DNS_EMAIL: ownEmail, DNS_KEY: ownKey, DNS_TOKENS: more } = parsed;
  return {
    ...config,
    email: ownEmail ?? config.email,
    key: ownKey ?? config.key,
    tokens: [...config.tokens, ...more],
  };
}
