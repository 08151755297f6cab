/** `[s3]` of the configuration file: the server of the S3-compatible API. */
import * as v from "valibot";
import { hostName } from "../base/host-rule.ts";
import { isPort, portMax } from "../base/ports.ts";
import {
  described,
  describeMistake,
  integerSchema,
  listSchema,
  oneOfSchema,
  optional,
  parseValue,
  tableSchema,
  textMatchingSchema,
  textSchema,
  valueSchema,
  type ReportMistake,
  type Table,
} from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import type { S3Credentials } from "../http/signature.ts";
import type { CorsRule } from "../store/core/cors.ts";

export interface ProjectS3 {
  /** `undefined`: 8789, or the next free port. */
  readonly port?: number;
  /** `undefined`: a pair that is made for the state folder. */
  readonly credentials?: S3Credentials;
  /** Where the user keeps the secret of `credentials`: a secret of the user is never shown. */
  readonly secretPlace?: string;
  /** Names besides loopback under which the server may be called. */
  readonly hosts: readonly string[];
  /** `bucket`: the name of the bucket; `undefined`: every bucket. */
  readonly cors: readonly (CorsRule & { readonly bucket?: string })[];
}

/** A client sends the id in a header and in URLs. */
const accessKeyId = textMatchingSchema(
  /^[A-Za-z0-9_-]{3,128}$/,
  "must be 3 to 128 letters, digits, _ and -",
);
const secretAccessKey = textMatchingSchema(
  /^[\x21-\x7e]{8,256}$/,
  "must be 8 to 256 characters of ASCII without spaces",
);
const host = textSchema(
  (text) => (/:\d+$/.test(text) ? null : hostName(text)),
  'must be a host name or an address without a port, such as "store.test" or "[2001:db8::1]"',
);
const texts = listSchema(v.string("must be text"));
const daySeconds = 86_400;

const corsRule = tableSchema(
  {
    bucket: optional("The name of a bucket; without it, every bucket.", v.string("must be text")),
    allowed_origins: described(
      'Origins, with at most one "*" each.',
      listSchema(textMatchingSchema(/^[^*]*\*?[^*]*$/, 'must be an origin with at most one "*"')),
    ),
    allowed_methods: described(
      "Methods.",
      listSchema(oneOfSchema(["GET", "HEAD", "PUT", "POST", "DELETE"])),
    ),
    allowed_headers: optional("Headers that a request may have.", texts, []),
    expose_headers: optional("Headers of the response that a page may read.", texts, []),
    max_age_seconds: optional(
      "How long a browser keeps the answer to a preflight.",
      integerSchema(0, daySeconds),
    ),
  },
  { allowed_origins: '["http://localhost:3000"]', allowed_methods: '["GET"]' },
);

export const s3Schema = described(
  "The S3-compatible API of the buckets.",
  tableSchema({
    port: optional(
      "The port; 0 is any free port.",
      valueSchema(
        (input) => (isPort(input) ? input : null),
        "must be a port, 0 to 65535; 0 takes any free port",
        { type: "integer", minimum: 0, maximum: portMax, default: 8789 },
      ),
    ),
    access_key_id: optional(
      "The id of the credentials. Default: a pair that is made for the state.",
      accessKeyId,
    ),
    secret_access_key: optional("The secret of the credentials.", secretAccessKey),
    hosts: optional(
      "Names besides loopback under which the API may be called.",
      listSchema(host),
      [],
    ),
    cors: optional(
      "Rules for pages of other origins, until a request puts others.",
      listSchema(corsRule, "must be a list: write [[s3.cors]], or a JSON array"),
      [],
    ),
  }),
);

/**
 * @param secrets `.dev.vars`: S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY replace the keys of the table,
 *   which stands in a file that people share
 */
export function readS3(
  { s3: given = {} }: Table,
  secrets: Readonly<Record<string, string>>,
  report: ReportMistake,
): ProjectS3 {
  const parsed = parseValue(s3Schema, given, ["s3"], report);
  if (parsed === null) return { hosts: [], cors: [] };
  const { port, hosts, cors } = parsed;
  const id = secret(secrets, "S3_ACCESS_KEY_ID", accessKeyId) ?? parsed.access_key_id;
  const ownKey = secret(secrets, "S3_SECRET_ACCESS_KEY", secretAccessKey);
  const key = ownKey ?? parsed.secret_access_key;
  if ((id === undefined) !== (key === undefined)) {
    const missing = id === undefined ? "access_key_id" : "secret_access_key";
    report(["s3"], `needs ${missing} too: credentials are a pair.`);
  }
  return {
    port,
    ...(id !== undefined &&
      key !== undefined && {
        credentials: { accessKeyId: id, secretAccessKey: key },
        secretPlace:
          ownKey === undefined
            ? "secret_access_key of [s3]"
            : "S3_SECRET_ACCESS_KEY of your secrets file",
      }),
    hosts,
    cors: cors.map((rule) => ({
      bucket: rule.bucket,
      allowedOrigins: rule.allowed_origins,
      allowedMethods: rule.allowed_methods,
      allowedHeaders: rule.allowed_headers,
      exposeHeaders: rule.expose_headers,
      maxAgeSeconds: rule.max_age_seconds,
    })),
  };
}

/** A running server, for the links to its objects and for what a person is told of it. */
export interface S3Access {
  readonly url: string;
  readonly credentials: S3Credentials;
  /** As in `ProjectS3`: `undefined` for a secret that Ledge has made, and may print. */
  readonly secretPlace: string | undefined;
}

/**
 * The options of a binding of the plugin, which are those of `[s3]`.
 *
 * @throws UserError with every mistake
 */
export function parseS3Options(binding: string, options: unknown = {}): ProjectS3 {
  const problems: string[] = [];
  const parsed = readS3({ s3: options }, {}, ([, ...path], problem) => {
    problems.push(`S3 endpoint "${binding}": ${describeMistake({ path, problem })}`);
  });
  if (problems.length > 0) throw new UserError(problems.join("\n"));
  return parsed;
}

/** @throws UserError for a secret that cannot be one */
function secret(
  secrets: Readonly<Record<string, string>>,
  name: string,
  schema: v.GenericSchema<unknown, string>,
): string | undefined {
  if (secrets[name] === undefined) return undefined;
  const value = parseValue(schema, secrets[name], [], (_, problem) => {
    throw new UserError(`.dev.vars: ${name} ${problem}.`);
  });
  return value ?? undefined;
}
