/**
 * `[remotes.NAME]` of the configuration file: S3 services that have buckets of the project.
 *
 * Keys come from the environment, from `.dev.vars`, or from the table, in this order. A remote that no
 * bucket uses needs no keys.
 */
import * as v from "valibot";
import { nearest } from "../base/nearest.ts";
import { UserError } from "../base/user-error.ts";
import {
  remoteGaps,
  type RemoteGap,
  remoteVariables,
  type RemoteCredentials,
  type RemotePlace,
} from "../store/remote/remote-options.ts";
import { keepCredentials, keptCredentials } from "./remote-credentials.ts";
import {
  anyTableSchema,
  isTable,
  listSchema,
  oneOfSchema,
  parseValue,
  tableSchema,
  textMatchingSchema,
  textSchema,
  type Path,
  type ReportMistake,
  type Table,
} from "../base/schema.ts";

/** The S3 service of a bucket. */
export interface ProjectRemote {
  /** NAME of `[remotes.NAME]`. */
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

const remoteEntries = {
  endpoint,
  region: v.optional(
    textMatchingSchema(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a region, as in "us-east-1"'),
    regionDefault,
  ),
  access_key_id: v.optional(key),
  secret_access_key: v.optional(key),
  prefix: v.optional(prefix, ""),
  accept: v.optional(listSchema(oneOfSchema<RemoteGap>(remoteGaps)), []),
};
export const remoteKeys: readonly string[] = Object.keys(remoteEntries);
const examples = { endpoint: "https://s3.example.net" };
const remoteTable = tableSchema(remoteEntries, examples);

/** The `remote` option of a binding of the plugin: the table, its name, and the keys or their reference. */
const optionTable = tableSchema(
  {
    name: textSchema(checkName, nameProblem),
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
    const known = reference === undefined ? undefined : keptCredentials(reference);
    const { session_token: sessionToken } = given;
    const own = { ...given, ...(sessionToken !== undefined && { sessionToken }) };
    const credentials = known ?? findCredentials(name, own, process.env);
    if (credentials !== null) return remoteOf(name, given, credentials);
    addIssue({ message: missingKeys(name, given, process.env, "the environment") });
    return NEVER;
  }),
);

/** The option of the plugin. It has no keys: the keys stay in this process. */
export function remoteOption({ credentials, ...remote }: ProjectRemote): Table {
  return { ...remote, credentials: keepCredentials(credentials) };
}

/** Where a bucket of the remote is. */
export function remotePlace(
  { name, endpoint: origin, region, prefix: begin }: ProjectRemote,
  bucketName: string,
): RemotePlace {
  return { remote: name, endpoint: origin, region, bucketName, prefix: begin };
}

const noCredentials: RemoteCredentials = { accessKeyId: "", secretAccessKey: "" };

/** The remotes of a project, from which buckets take theirs. */
export class ProjectRemotes {
  readonly #tables = new Map<string, v.InferOutput<typeof remoteTable> | null>();
  readonly #secrets: Secrets;
  readonly #report: ReportMistake;
  readonly #keysOptional: boolean;
  readonly #withoutKeys = new Set<string>();

  /** @param secrets `.dev.vars` and the environment */
  constructor(
    { remotes: given = {} }: Table,
    secrets: Secrets,
    { report, keysOptional }: { readonly report: ReportMistake; readonly keysOptional: boolean },
  ) {
    this.#secrets = secrets;
    this.#keysOptional = keysOptional;
    this.#report = report;
    const tables = parseValue(anyTableSchema, given, ["remotes"], report) ?? {};
    for (const [name, table] of Object.entries(tables)) {
      const path = ["remotes", name];
      if (!namePattern.test(name)) report(path, nameProblem(name));
      this.#tables.set(name, parseValue(remoteTable, table, path, report));
    }
    if (!isTable(given)) this.#tables.clear();
  }

  /**
   * @param path of the name, for mistakes
   * @returns `undefined` after a mistake
   */
  find(name: string, path: Path): ProjectRemote | undefined {
    const table = this.#tables.get(name);
    if (table === undefined) this.#report(path, this.#unknown(name));
    if (table === undefined || table === null) return undefined;
    const credentials = findCredentials(name, table, this.#secrets);
    if (credentials !== null) return remoteOf(name, table, credentials);
    if (this.#keysOptional) return remoteOf(name, table, noCredentials);
    if (!this.#withoutKeys.has(name)) {
      const problem = missingKeys(name, table, this.#secrets, ".dev.vars or in the environment");
      this.#report(["remotes", name], problem);
    }
    this.#withoutKeys.add(name);
    return undefined;
  }

  #unknown(name: string): string {
    const known = [...this.#tables.keys()];
    if (known.length === 0) {
      return `names the remote ${JSON.stringify(name)}, and the file has no remotes. Add [remotes.${name}] with an endpoint`;
    }
    const guess = nearest(name, known);
    return (
      `names the remote ${JSON.stringify(name)}, which does not exist` +
      (guess === null ? `; known are ${known.join(", ")}` : `; did you mean "${guess}"?`)
    );
  }
}

interface GivenKeys {
  readonly access_key_id?: string | undefined;
  readonly secret_access_key?: string | undefined;
  readonly sessionToken?: string | undefined;
}

/**
 * @returns `null` when a key is missing
 * @throws UserError for a variable that cannot be a key
 */
function findCredentials(
  name: string,
  given: GivenKeys,
  secrets: Secrets,
): RemoteCredentials | null {
  const { accessKeyId, secretAccessKey, sessionToken } = findKeys(name, given, secrets);
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
}

function findKeys(name: string, given: GivenKeys, secrets: Secrets) {
  const variables = remoteVariables(name);
  return {
    accessKeyId: secret(secrets, variables.accessKeyId) ?? given.access_key_id,
    secretAccessKey: secret(secrets, variables.secretAccessKey) ?? given.secret_access_key,
    sessionToken: secret(secrets, variables.sessionToken) ?? given.sessionToken,
  };
}

/** An empty variable counts as absent. */
function secret(secrets: Secrets, name: string): string | undefined {
  const value = secrets[name];
  if (value === undefined || value === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new UserError(`The variable ${name} must be ASCII without spaces.`);
}

/** @param where the variables can be set */
function missingKeys(name: string, given: GivenKeys, secrets: Secrets, where: string): string {
  const variables = remoteVariables(name);
  const { accessKeyId, secretAccessKey } = findKeys(name, given, secrets);
  const missing: [key: string, variable: string][] = [];
  if (accessKeyId === undefined) missing.push(["access_key_id", variables.accessKeyId]);
  if (secretAccessKey === undefined) missing.push(["secret_access_key", variables.secretAccessKey]);
  return (
    `has no ${missing.map(([each]) => each).join(" and no ")}. ` +
    `Set ${missing.map(([, variable]) => variable).join(" and ")} in ${where}`
  );
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

function checkName(name: string): string | null {
  return namePattern.test(name) ? name : null;
}

function nameProblem(name: string): string {
  return `${JSON.stringify(name)} is not the name of a remote. Use letters, digits, "-" and "_"`;
}
