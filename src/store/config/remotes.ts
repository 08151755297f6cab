/**
 * `[remotes.NAME]` of the configuration file: S3 services that have buckets of the project.
 *
 * Keys come from `keys_file`, from the environment, from `.dev.vars`, or from the table, in this order. A remote that no
 * bucket uses needs no keys.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual, parseEnv } from "node:util";
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
  remoteLimits,
  remoteVariables,
  type RemoteAccess,
  type RemoteCredentials,
  type RemoteGap,
  type RemoteLimits,
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
  /** Only those that the configuration gives. */
  readonly limits?: Partial<RemoteLimits>;
  readonly credentials: RemoteCredentials;
  /** The path of a file that has the keys, and is read again when it changes (in a build). */
  readonly keysFile?: string;
}

/** The bucket of an S3 service that has the KV namespaces of a build. */
export interface NamespaceBucket {
  readonly remote: ProjectRemote;
  readonly bucketName: string;
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

function numberSchema(least: number, most: number, unit: string) {
  return v.pipe(
    v.number("must be a number"),
    v.check((given) => given >= least && given <= most, `must be from ${least} to ${most}${unit}`),
  );
}
const seconds = numberSchema(0.1, 3600, " seconds");
const inSeconds = (milliseconds: number): string =>
  `In seconds; ${milliseconds / 1000} by default.`;

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
  keys_file: optional(
    "A file with the keys, as lines LEDGE_REMOTE_NAME_ACCESS_KEY_ID=…; the runtimes of a build read it again when it changes.",
    textMatchingSchema(/\S/, "must be the path of a file"),
  ),
  prefix: optional("Begins each key of the service's bucket.", prefix, ""),
  accept: optional(
    "What the service may lack: the start does not fail then.",
    listSchema(oneOfSchema<RemoteGap>(remoteGaps)),
    [],
  ),
  connections: v.optional(
    described(
      `Requests under way at a time, in a runtime; others wait. ${remoteLimits.connections} by default.`,
      v.pipe(numberSchema(1, 10_000, ""), v.integer("must be a whole number")),
    ),
  ),
  answer_timeout: v.optional(
    described(
      `Until the head of an answer. ${inSeconds(remoteLimits.answerMilliseconds)}`,
      seconds,
    ),
  ),
  idle_timeout: v.optional(
    described(
      `For each 64 KiB of content, in both directions. ${inSeconds(remoteLimits.idleMilliseconds)}`,
      seconds,
    ),
  ),
  call_timeout: v.optional(
    described(`For all requests of a call. ${inSeconds(remoteLimits.callMilliseconds)}`, seconds),
  ),
};
const examples = { endpoint: "https://s3.example.net" };
const namespaceBucketKey = "kv_bucket";
const remoteTable = tableSchema(
  {
    ...remoteEntries,
    [namespaceBucketKey]: optional(
      "The bucket of the service that has the KV namespaces of a build. In ledge dev and in tests they are local.",
      textMatchingSchema(/^[^/]{1,255}$/, "must be the name of a bucket of the service"),
    ),
  },
  examples,
);

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
export function remoteOption({
  credentials,
  keysFile: _keysFile,
  limits = {},
  ...remote
}: ProjectRemote): Table {
  const settings = limitSettings.flatMap(([setting, limit, unit]) => {
    const given = limits[limit];
    return given === undefined ? [] : [[setting, given / unit] as const];
  });
  return { ...remote, ...Object.fromEntries(settings), credentials: keepCredentials(credentials) };
}

export function remotePlace(
  { name, endpoint: origin, region, prefix: begin, limits }: ProjectRemote,
  bucketName: string,
): RemotePlace {
  const place = { remote: name, endpoint: origin, region, bucketName, prefix: begin };
  return limits === undefined ? place : { ...place, limits };
}

const noCredentials: RemoteCredentials = { accessKeyId: "", secretAccessKey: "" };

/** Finds the remote that a bucket names at `path`. Returns `undefined` after a mistake. */
export type FindRemote = (name: string, path: Path) => ProjectRemote | undefined;

interface ProjectRemotes {
  readonly findRemote: FindRemote;
  /** Only a build asks, so nothing else needs keys of the remote. */
  readonly findNamespaceBucket: () => NamespaceBucket | undefined;
}

/** @param secrets `.dev.vars` and the environment */
export function readRemotes(
  given: unknown,
  secrets: Secrets,
  options: {
    readonly report: ReportMistake;
    readonly keysOptional: boolean;
    /** Paths are relative to it. */
    readonly folder: string;
  },
): ProjectRemotes {
  const { report, keysOptional, folder } = options;
  const tables = new Map<string, v.InferOutput<typeof remoteTable> | null>();
  const withoutKeys = new Set<string>();
  const entries = parseValue(anyTableSchema, given, ["remotes"], report) ?? {};
  for (const [name, table] of Object.entries(entries)) {
    const path = ["remotes", name];
    if (!namePattern.test(name)) report(path, nameProblem(name));
    tables.set(name, parseValue(remoteTable, table, path, report));
  }
  const [namespaceBucket, ...others] = [...tables].flatMap(([name, table]) => {
    const bucketName = table?.[namespaceBucketKey];
    return bucketName === undefined ? [] : { name, bucketName, path: ["remotes", name] };
  });
  for (const { path } of others) {
    const problem = `is already in remotes.${namespaceBucket?.name}: all KV namespaces are in one bucket`;
    report([...path, namespaceBucketKey], problem);
  }
  const findRemote: FindRemote = (name, path) => {
    const table = tables.get(name);
    if (table === undefined) report(path, unknownRemote(name, [...tables.keys()]));
    if (table === undefined || table === null) return undefined;
    const place = ".dev.vars or in the environment";
    const keysFile = table.keys_file && resolve(folder, table.keys_file);
    const known = { ...secrets, ...(keysFile !== undefined && readKeys(keysFile)) };
    const credentials = findCredentials(name, table, known, keysFile ?? place);
    const file = keysFile !== undefined && { keysFile };
    if (typeof credentials !== "string") return { ...remoteOf(name, table, credentials), ...file };
    if (keysOptional) return { ...remoteOf(name, table, noCredentials), ...file };
    if (!withoutKeys.has(name)) report(["remotes", name], credentials);
    withoutKeys.add(name);
    return undefined;
  };
  return {
    findRemote,
    findNamespaceBucket() {
      if (namespaceBucket === undefined) return undefined;
      const { name, bucketName, path } = namespaceBucket;
      const remote = findRemote(name, path);
      return remote && { remote, bucketName };
    },
  };
}

/** A build can be made where the file is not. */
function readKeys(path: string): Secrets {
  return existsSync(path) ? parseEnv(readFileSync(path, "utf8")) : {};
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
  table: Omit<v.InferOutput<typeof remoteTable>, keyof GivenKeys>,
  credentials: RemoteCredentials,
): ProjectRemote {
  const { endpoint: origin, region, prefix: begin, accept } = table;
  const limits = limitsOf(table);
  const given = Object.keys(limits).length > 0 ? { limits } : {};
  return { name, endpoint: origin, region, prefix: begin, accept, ...given, credentials };
}

/** The settings of a table, the bounds that they give, and the unit. */
const limitSettings = [
  ["connections", "connections", 1],
  ["answer_timeout", "answerMilliseconds", 1000],
  ["idle_timeout", "idleMilliseconds", 1000],
  ["call_timeout", "callMilliseconds", 1000],
] as const;

function limitsOf(
  table: Pick<v.InferOutput<typeof remoteTable>, (typeof limitSettings)[number][0]>,
): Partial<RemoteLimits> {
  const given = limitSettings.flatMap(([setting, limit, unit]) => {
    const value = table[setting];
    return value === undefined ? [] : [[limit, value * unit] as const];
  });
  return Object.fromEntries(given);
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
