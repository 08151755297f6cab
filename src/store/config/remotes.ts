/**
 * `[remotes.NAME]` of the configuration file: S3 services that have buckets of the project.
 *
 * Keys come from the environment, from `.dev.vars`, or from the table, in this order. A remote that no
 * bucket uses needs no keys.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { nearest } from "../../base/nearest.ts";
import {
  anyTableSchema,
  described,
  listSchema,
  oneOfSchema,
  optional,
  parseValue,
  tableSchema,
  textMatchingSchema,
  textSchema,
  type Path,
  type ReportMistake,
  type Table,
} from "../../base/schema.ts";
import { UserError } from "../../base/user-error.ts";
import {
  remoteGaps,
  remoteVariables,
  type RemoteAccess,
  type RemoteCredentials,
  type RemoteGap,
  type RemotePlace,
} from "../remote/remote-options.ts";

export interface ProjectRemote {
  readonly name: string;
  /** An origin: `https://s3.example.net`. */
  readonly endpoint: string;
  readonly region: string;
  /** Begins each key of the service's bucket. */
  readonly prefix: string;
  /** What the service may lack. */
  readonly accept: readonly RemoteGap[];
  readonly credentials: RemoteCredentials;
}

type Secrets = Readonly<Record<string, string | undefined>>;

const regionDefault = "us-east-1";
/** A key of the service has 1024 bytes, and most of them belong to the script. */
const prefixBytesMax = 256;
const namePattern = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/;

const endpoint = textSchema(parseEndpoint, (given) => {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return `${JSON.stringify(given)} is not a URL of http or https. Write it as in "https://s3.example.net"`;
  }
  return `must be an origin without a path, as in "${url.origin}". The bucket is bucket_name of [[store_buckets]]`;
});
const key = textMatchingSchema(
  /^[\x21-\x7e]{1,512}$/,
  "must be 1 to 512 characters of ASCII without spaces",
);
const prefix = textSchema(
  (given) =>
    given.isWellFormed() && new TextEncoder().encode(given).length <= prefixBytesMax ? given : null,
  `must be text of at most ${prefixBytesMax} bytes`,
);

const variablesHint = (name: string): string =>
  `Better: LEDGE_REMOTE_NAME_${name} in .dev.vars or the environment.`;

const remoteEntries = {
  endpoint: described("The URL of the service without a path: https://s3.example.net.", endpoint),
  region: optional(
    "The region that signatures name.",
    textMatchingSchema(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a region, as in "us-east-1"'),
    regionDefault,
  ),
  access_key_id: optional(`The id of the keys. ${variablesHint("ACCESS_KEY_ID")}`, key),
  secret_access_key: optional(`The secret of the keys. ${variablesHint("SECRET_ACCESS_KEY")}`, key),
  prefix: optional("Begins each key of the service's bucket.", prefix, ""),
  accept: optional(
    "What the service may lack: the start does not fail then.",
    listSchema(oneOfSchema<RemoteGap>(remoteGaps)),
    [],
  ),
};
const examples = { endpoint: "https://s3.example.net" };
const remoteTable = tableSchema(remoteEntries, examples);

/** For editors. `ProjectRemotes` checks each table by itself. */
export const remotesSchema = described(
  "S3 services, by the names that buckets give in `remote`.",
  v.record(v.string(), remoteTable),
);

/** The `remote` option of a binding of the plugin: the table, its name, and the keys or their reference. */
const optionTable = tableSchema(
  {
    name: textMatchingSchema(namePattern, nameProblem),
    ...remoteEntries,
    session_token: v.optional(key),
    credentials: v.optional(v.string("must be text")),
  },
  { name: "cluster", ...examples },
);
export const remoteOptionSchema = v.pipe(
  optionTable,
  v.rawTransform(({ dataset, addIssue, NEVER }): ProjectRemote => {
    const { name, credentials: reference, ...given } = dataset.value;
    const known = reference === undefined ? undefined : keptCredentials().get(reference);
    const credentials = known ?? findCredentials(name, given, process.env, "the environment");
    if (typeof credentials !== "string") return remoteOf(name, given, credentials);
    addIssue({ message: credentials });
    return NEVER;
  }),
);

/** The option of the plugin. It has no keys: the keys stay in this process. */
export function remoteOption({ credentials, ...remote }: ProjectRemote): Table {
  return { ...remote, credentials: keepCredentials(credentials) };
}

export function remotePlace(
  { name, endpoint: origin, region, prefix: begin }: ProjectRemote,
  bucketName: string,
): RemotePlace {
  return { remote: name, endpoint: origin, region, bucketName, prefix: begin };
}

const noCredentials: RemoteCredentials = { accessKeyId: "", secretAccessKey: "" };

/** Finds the remote that a bucket names at `path`. Returns `undefined` after a mistake. */
export type FindRemote = (name: string, path: Path) => ProjectRemote | undefined;

/** @param secrets `.dev.vars` and the environment */
export function readRemotes(
  given: unknown,
  secrets: Secrets,
  { report, keysOptional }: { readonly report: ReportMistake; readonly keysOptional: boolean },
): FindRemote {
  const tables = new Map<string, v.InferOutput<typeof remoteTable> | null>();
  const withoutKeys = new Set<string>();
  const entries = parseValue(anyTableSchema, given, ["remotes"], report) ?? {};
  for (const [name, table] of Object.entries(entries)) {
    const path = ["remotes", name];
    if (!namePattern.test(name)) report(path, nameProblem(name));
    tables.set(name, parseValue(remoteTable, table, path, report));
  }
  return (name, path) => {
    const table = tables.get(name);
    if (table === undefined) report(path, unknownRemote(name, [...tables.keys()]));
    if (table === undefined || table === null) return undefined;
    const place = ".dev.vars or in the environment";
    const credentials = findCredentials(name, table, secrets, place);
    if (typeof credentials !== "string") return remoteOf(name, table, credentials);
    if (keysOptional) return remoteOf(name, table, noCredentials);
    if (!withoutKeys.has(name)) report(["remotes", name], credentials);
    withoutKeys.add(name);
    return undefined;
  };
}

function unknownRemote(name: string, known: readonly string[]): string {
  if (known.length === 0) {
    return `names the remote ${JSON.stringify(name)}, and the file has no remotes. Add [remotes.${name}] with an endpoint`;
  }
  const guess = nearest(name, known);
  return (
    `names the remote ${JSON.stringify(name)}, which does not exist` +
    (guess === null ? `; known are ${known.join(", ")}` : `; did you mean "${guess}"?`)
  );
}

interface GivenKeys {
  readonly access_key_id?: string | undefined;
  readonly secret_access_key?: string | undefined;
  readonly session_token?: string | undefined;
}

/**
 * @param where the variables can be set
 * @returns what to do when a key is missing
 * @throws UserError for a variable that cannot be a key
 */
function findCredentials(
  name: string,
  given: GivenKeys,
  secrets: Secrets,
  where: string,
): RemoteCredentials | string {
  const variables = remoteVariables(name);
  const accessKeyId = secret(secrets, variables.accessKeyId) ?? given.access_key_id;
  const secretAccessKey = secret(secrets, variables.secretAccessKey) ?? given.secret_access_key;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    const sessionToken = secret(secrets, variables.sessionToken) ?? given.session_token;
    return { accessKeyId, secretAccessKey, sessionToken };
  }
  const missing: [key: string, variable: string][] = [];
  if (accessKeyId === undefined) missing.push(["access_key_id", variables.accessKeyId]);
  if (secretAccessKey === undefined) missing.push(["secret_access_key", variables.secretAccessKey]);
  return (
    `has no ${missing.map(([each]) => each).join(" and no ")}. ` +
    `Set ${missing.map(([, variable]) => variable).join(" and ")} in ${where}`
  );
}

/** An empty variable counts as absent. */
function secret(secrets: Secrets, name: string): string | undefined {
  const value = secrets[name];
  if (value === undefined || value === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new UserError(`The variable ${name} must be ASCII without spaces.`);
}

function remoteOf(
  name: string,
  table: Pick<v.InferOutput<typeof remoteTable>, "endpoint" | "region" | "prefix" | "accept">,
  credentials: RemoteCredentials,
): ProjectRemote {
  const { endpoint: origin, region, prefix: begin, accept } = table;
  return { name, endpoint: origin, region, prefix: begin, accept, credentials };
}

function parseEndpoint(given: string): string | null {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const isOrigin =
    url.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  return isOrigin ? url.origin : null;
}

function nameProblem(name: string): string {
  return `${JSON.stringify(name)} is not the name of a remote. Use letters, digits, "-" and "_"`;
}

/**
 * Keys of S3 services on their way to the plugin.
 *
 * The options of a binding can stand in a file, which wrangler reads. So the options have a reference in
 * the place of keys, and the keys stay in the memory of this process. Other keys have another reference:
 * a runtime with changed options starts again.
 *
 * The commands and the plugin can be loaded from different files, so the map is a property of the global
 * object.
 */
const mapKey = Symbol.for("ledge:remote-credentials");

function keptCredentials(): Map<string, RemoteCredentials> {
  const global = globalThis as { [mapKey]?: Map<string, RemoteCredentials> };
  return (global[mapKey] ??= new Map());
}

function keepCredentials(credentials: RemoteCredentials): string {
  for (const [reference, known] of keptCredentials()) {
    if (isDeepStrictEqual(known, credentials)) return reference;
  }
  const reference = randomUUID();
  keptCredentials().set(reference, credentials);
  return reference;
}

/** The buckets of a project that are on an S3 service, by the names that the project uses. */
export function usedRemotes(
  buckets: readonly {
    readonly bucketName: string;
    readonly previewBucketName?: string;
    readonly remote?: ProjectRemote;
  }[],
): Map<string, RemoteAccess> {
  const remotes = new Map<string, RemoteAccess>();
  for (const { bucketName, previewBucketName, remote } of buckets) {
    if (remote === undefined) continue;
    const name = previewBucketName ?? bucketName;
    const { credentials, accept } = remote;
    remotes.set(name, { ...remotePlace(remote, name), credentials, accept });
  }
  return remotes;
}
