/**
 * The JSON schema of the configuration file, for editors: wrangler's schema with the keys of Ledge.
 *
 * The build writes the schema of the installed wrangler to `dist/config-schema.json`. The schema of
 * the keys says which keys and kinds of values there are; the valibot schemas, which check the file,
 * know more (a hostname, a secret in base64). A test compares the keys of both.
 */
import { remoteGaps } from "../store/remote/remote-options.ts";
import { bucketNamePattern } from "./store-buckets.ts";

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly [keyword: string]: unknown;
}

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: "string",
  description,
  ...more,
});
const flag = (description: string): JsonSchema => ({
  type: "boolean",
  description,
  default: false,
});
const integer = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: "integer",
  description,
  ...more,
});
const count = (description: string): JsonSchema => integer(description, { minimum: 0 });
const port = (description: string, standard: number): JsonSchema =>
  integer(description, { minimum: 0, maximum: 65_535, default: standard });
const list = (description: string, items: JsonSchema): JsonSchema => ({
  type: "array",
  description,
  items,
});
const table = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema => ({ type: "object", properties, required, additionalProperties: false });

const bucketName = { pattern: bucketNamePattern.source };
const binding = text("The name in env: env.PHOTOS. A JavaScript identifier.");

const storeBuckets = list(
  "Buckets of the store. A binding may also stand in r2_buckets: the store serves it locally, and a deploy sees the other.",
  table(
    {
      binding,
      bucket_name: text("The name of the bucket.", bucketName),
      preview_bucket_name: text(
        "The bucket for ledge dev, tests and getPlatformProxy(), in place of bucket_name.",
        bucketName,
      ),
      storage_class: text("The class of objects that are stored without one.", {
        enum: ["Standard", "InfrequentAccess"],
        default: "Standard",
      }),
      verify_reads: flag("Reads verify files by their hash."),
      list_trailing_delimiter: flag(
        'Listed prefixes end with the delimiter, as in the deployed service: "trips/". The default is true for a binding that is also in r2_buckets.',
      ),
      public: flag("Requests without a signature may read objects by the S3-compatible API."),
      remote: text(
        "The NAME of a table [remotes.NAME]: the S3 service that has the bucket. Without it, the bucket is in the state folder.",
      ),
    },
    ["binding", "bucket_name"],
  ),
);

const remotes: JsonSchema = {
  type: "object",
  description: "S3 services, by the names that buckets give in `remote`.",
  additionalProperties: table(
    {
      endpoint: text("The URL of the service without a path: https://s3.example.net."),
      region: text("The region that signatures name.", { default: "us-east-1" }),
      access_key_id: text(
        "The id of the keys. Better: LEDGE_REMOTE_NAME_ACCESS_KEY_ID in .dev.vars or the environment.",
      ),
      secret_access_key: text(
        "The secret of the keys. Better: LEDGE_REMOTE_NAME_SECRET_ACCESS_KEY in .dev.vars or the environment.",
      ),
      prefix: text("Begins each key of the service's bucket.", { default: "" }),
      accept: list("What the service may lack: the start does not fail then.", {
        type: "string",
        enum: remoteGaps,
      }),
    },
    ["endpoint"],
  ),
};

const dns: JsonSchema = {
  description: "The name server and the record API.",
  ...table({
    api_port: port("The port of the record API and of DNS over HTTPS; 0 is any free port.", 8788),
    https_port: {
      description: "The port of the record API over https: true is 8443, 0 is any free port.",
      anyOf: [{ type: "boolean" }, { type: "integer", minimum: 0, maximum: 65_535 }],
      default: false,
    },
    https_names: list("Names besides loopback by which clients call the API over https.", {
      type: "string",
    }),
    port: port("The port of UDP and TCP; 0 is any free port.", 8053),
    hosts: {
      description: "The addresses on which the name server listens.",
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    },
    resolver: {
      description: "The resolvers of external names: an address, or a list of addresses.",
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    },
    keys: list(
      "TSIG keys, for transfers.",
      table(
        {
          name: text("The name of the key."),
          secret: text("The secret, in base64."),
          algorithm: text("The algorithm.", {
            enum: ["hmac-sha256", "hmac-sha384", "hmac-sha512", "hmac-sha1"],
            default: "hmac-sha256",
          }),
        },
        ["name", "secret"],
      ),
    ),
    transfers: {
      description: "Secondaries: who may transfer zones, and who is told of changes.",
      ...table({
        allow: list("Addresses, networks, and keys as key:NAME.", { type: "string" }),
        notify: list(
          "Servers that get a NOTIFY after a change.",
          table({ address: text("ADDRESS:PORT"), key: text("The name of a key.") }, ["address"]),
        ),
      }),
    },
    binding: text("A name in env for the record API."),
    email: text("The e-mail address of the owner."),
    key: text("The key of the owner."),
    tokens: list(
      "Tokens of the record API.",
      table(
        {
          token: text("The token: 8 to 512 characters."),
          zones: list("Names or ids of zones; without the list, all zones.", { type: "string" }),
          read_only: flag("The token reads and does not write."),
        },
        ["token"],
      ),
    ),
    api_hosts: list("Hosts besides loopback for which the API answers.", { type: "string" }),
    api_origins: list("Origins whose pages may use the API.", { type: "string" }),
    platform_addresses: list("The addresses of proxied names.", { type: "string" }),
    name_rules: text("The rule for names of A, AAAA and CNAME records.", {
      enum: ["strict", "dns"],
      default: "strict",
    }),
    name_servers: list("The name servers of new zones.", { type: "string" }),
    zones: list(
      "Zones that are created at the start.",
      table(
        {
          name: text("The name of the zone."),
          records: list("Records that are created at the start.", {
            type: "object",
            properties: {
              type: text("The type of the record: A, AAAA, CNAME, MX, TXT, …"),
              name: text('The name; "@" is the zone.'),
              content: text("The content, in presentation format."),
              ttl: integer("Seconds; 1 is automatic."),
              priority: integer("The priority of MX, SRV and URI."),
              proxied: { type: "boolean", description: "Whether the name leads to the edge." },
            },
            required: ["type", "name"],
          }),
        },
        ["name"],
      ),
    ),
    comment_length: count("The maximum number of characters of a comment."),
    tag_quota: count("The maximum number of tags of a record."),
    record_quota: count("The maximum number of records of a zone."),
    batch_quota: count("The maximum number of operations of a batch."),
    faults: list("Failures of the record API, on demand.", {
      type: "object",
      properties: {
        method: text("The method of the request."),
        path: text('A pattern of the path, such as "*/dns_records".'),
        status: integer("The status of the response.", { minimum: 400, maximum: 599 }),
        delay_ms: integer("A delay.", { minimum: 0, maximum: 60_000 }),
        after: count("The number of requests that are answered first."),
        times: count("The number of requests that fail."),
        when: text("Whether the request is executed.", { enum: ["before", "after"] }),
      },
    }),
  }),
};

const texts = (description: string): JsonSchema => list(description, { type: "string" });

const s3: JsonSchema = {
  description: "The S3-compatible API of the buckets.",
  ...table({
    port: port("The port; 0 is any free port.", 8789),
    access_key_id: text("The id of the credentials. Default: a pair that is made for the state."),
    secret_access_key: text("The secret of the credentials."),
    hosts: texts("Names besides loopback under which the API may be called."),
    cors: list(
      "Rules for pages of other origins, until a request puts others.",
      table(
        {
          bucket: text("The name of a bucket; without it, every bucket."),
          allowed_origins: texts('Origins, with at most one "*" each.'),
          allowed_methods: list("Methods.", {
            type: "string",
            enum: ["GET", "HEAD", "PUT", "POST", "DELETE"],
          }),
          allowed_headers: texts("Headers that a request may have."),
          expose_headers: texts("Headers of the response that a page may read."),
          max_age_seconds: integer("How long a browser keeps the answer to a preflight.", {
            minimum: 0,
            maximum: 86_400,
          }),
        },
        ["allowed_origins", "allowed_methods"],
      ),
    ),
  }),
};

/** The keys of Ledge. Each stands at the top level and in an environment. */
export const ledgeProperties: Readonly<Record<string, JsonSchema>> = {
  store_buckets: storeBuckets,
  remotes,
  dns,
  s3,
};

/** The part of wrangler's schema that is used. */
interface WranglerSchema extends JsonSchema {
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}

export function configSchema(wrangler: WranglerSchema): JsonSchema {
  const { RawConfig: config, RawEnvironment: environment } = wrangler.definitions;
  return {
    ...wrangler,
    title: "The configuration of an edge script: wrangler's keys, and the keys of Ledge",
    definitions: {
      ...wrangler.definitions,
      RawConfig: withLedgeProperties(config, "RawConfig"),
      RawEnvironment: withLedgeProperties(environment, "RawEnvironment"),
    },
  };
}

function withLedgeProperties(definition: JsonSchema | undefined, name: string): JsonSchema {
  if (definition?.properties === undefined) {
    throw new Error(`wrangler's schema has no ${name}, so it has another form now.`);
  }
  return { ...definition, properties: { ...definition.properties, ...ledgeProperties } };
}
