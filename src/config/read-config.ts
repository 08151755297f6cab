/**
 * The configuration of a project, checked. Every mistake in the keys of Ledge is reported at once;
 * wrangler checks its own keys, and a key that neither knows is a warning.
 */
import { dirname, join, resolve } from "node:path";
import { nearest } from "../base/nearest.ts";
import { isNews } from "../base/notices.ts";
import {
  describeMistake,
  fieldName,
  isIdentifier,
  isTable,
  parseValue,
  type Mistake,
  type Path,
  type ReportMistake,
  type Table,
} from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { readDnsTable, type ProjectDns } from "../dns/config/dns-table.ts";
import { readEdge, readRoutes } from "../edge/config/edge-settings.ts";
import type { EdgeSettings, RoutePattern } from "../edge/core/edge-table.ts";
import { readS3, type ProjectS3 } from "../s3/s3-table.ts";
import { readRemotes, type NamespaceBucket } from "../store/config/remotes.ts";
import {
  compatibilityDateSchema,
  compatibilityFlagsSchema,
  deployProblem,
  readBuckets,
  type BucketBinding,
} from "../store/config/store-buckets.ts";
import { readConfigFile, readDevVariables, shownPath, type ConfigFile } from "./config-file.ts";
import { adoptBuckets, deployedBuckets } from "./deployed-buckets.ts";
import { bindingNames, isInherited, isLedgeKey, misspeltKey } from "./keys.ts";
import { readState, type ProjectState } from "./state-table.ts";

export interface ProjectConfig {
  /** The path of the file; `null` without a file. */
  readonly path: string | null;
  /** The folder of the file, or the working folder. */
  readonly folder: string;
  readonly environment?: string;
  /** The file as it was written. */
  readonly source: Table;
  /** The table of the environment. */
  readonly table: Table;
  readonly buckets: readonly BucketBinding[];
  /** Where KV namespaces are, for a caller that has asked for `namespaces`. */
  readonly namespaceBucket?: NamespaceBucket | undefined;
  readonly dns: ProjectDns;
  readonly s3: ProjectS3;
  readonly edge: EdgeSettings;
  readonly state: ProjectState;
  /** `route` and `routes`, without those that no request can match. */
  readonly routes: readonly RoutePattern[];
  readonly warnings: readonly string[];
  /** Warnings that a project gets once. */
  readonly notices: readonly string[];
}

export interface ReadConfigOptions {
  /** The path of the configuration file; `null`: none. Default: the nearest file in `folder` or above. */
  configPath?: string | null;
  /** The NAME of a table `[env.NAME]`. */
  environment?: string;
  /** `true`: the store also serves `r2_buckets`, so that a project of wrangler needs no edit. */
  adopt?: boolean;
  /** The folder in which the search begins, and the base of a relative path. Default: the working folder. */
  folder?: string;
  /** Files with secrets, which replace `.dev.vars`. Paths are relative to the working folder. */
  envFiles?: readonly string[];
  /** Whether remotes may lack keys: they are empty then. */
  keysOptional?: boolean;
  /** Whether KV namespaces are on the S3 service that has `kv_bucket`, as in a build. */
  namespaces?: boolean;
}

/**
 * Without a file, a project has no buckets, and the default DNS.
 *
 * @throws UserError that lists every mistake with its file, line and field
 */
export function readConfig(options: ReadConfigOptions = {}): ProjectConfig {
  const { configPath, environment, adopt = false, keysOptional = false } = options;
  const start = resolve(options.folder ?? ".");
  const file = configPath === null ? null : readConfigFile(configPath, start);
  const folder = file === null ? start : dirname(file.path);
  const source = file?.table ?? {};
  const { env: _, ...common } = source;
  const own = environment === undefined ? null : findEnvironment(file, environment, folder);
  const table = own === null ? common : environmentTable(common, own, environment as string);
  const mistakes: Mistake[] = [];
  const doubts: Mistake[] = [];
  const oddNames: Mistake[] = [];
  const reportTo =
    (list: Mistake[]): ReportMistake =>
    (place, problem) => {
      const isOwn = own !== null && Object.hasOwn(own, place[0] as string);
      list.push({ path: isOwn ? ["env", environment as string, ...place] : place, problem });
    };
  const report = reportTo(mistakes);
  const secrets = readDevVariables(folder, environment, options.envFiles);
  reportTakenNames(table, Object.keys(secrets), report);
  reportMisspeltKeys(table, reportTo(doubts));
  for (const [key, schema] of Object.entries(compatibilitySchemas)) {
    if (table[key] !== undefined) parseValue<unknown>(schema, table[key], [key], report);
  }
  const deployed = new Set(deployedBuckets(table).map(({ binding }) => binding));
  const { remotes = {}, store_buckets: given = [] } = table;
  const variables = { ...secrets, ...process.env };
  const places = readRemotes(remotes, variables, { report, keysOptional, folder });
  const configured = readBuckets(given, deployed, places.findRemote, report);
  for (const [index, { bucketName, remote }] of configured.entries()) {
    const problem = remote === undefined ? deployProblem(bucketName) : null;
    if (problem !== null) reportTo(oddNames)(["store_buckets", index, "bucket_name"], problem);
  }
  const hasNamespaces = options.namespaces === true && hasItems(table["kv_namespaces"]);
  const namespaceBucket = hasNamespaces ? places.findNamespaceBucket() : undefined;
  const buckets = adopt ? [...configured, ...adoptBuckets(table, configured, report)] : configured;
  const dns = readDns(table, secrets, report);
  const s3 = readS3(table, secrets, report);
  const edge = readEdge(table, report);
  const state = readState(table, folder, report);
  const routes = readRoutes(table, reportTo(doubts));
  if (mistakes.length > 0) throw new UserError(located(file, mistakes).join("\n"));
  const lacksBuckets =
    own !== null && common["store_buckets"] !== undefined && own["store_buckets"] === undefined;
  const warnings = [
    ...located(file, doubts),
    ...(lacksBuckets && buckets.length === 0 ? [noBucketsWarning(file, environment)] : []),
  ];
  const notices = located(file, oddNames);
  const path = file?.path ?? null;
  return {
    path,
    folder,
    environment,
    source,
    table,
    buckets,
    namespaceBucket,
    dns,
    s3,
    edge,
    state,
    routes,
    warnings,
    notices,
  };
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** What to tell the user at the start of a command: all warnings, and the notices that are new. */
export function newsOf({ folder, warnings, notices }: ProjectConfig): string[] {
  const news = notices.filter((notice) => {
    // An edit of the file moves its lines.
    const text = notice.replace(/:\d+:\d+: /, ": ");
    return isNews(text, join(folder, "node_modules"));
  });
  return [...warnings, ...news];
}

/**
 * `[dns]`, or without it the options of a binding for stock tools: one file serves all tools, and all
 * tools share the zones.
 */
function readDns(
  { dns, unsafe }: Table,
  secrets: Readonly<Record<string, string>>,
  report: ReportMistake,
): ProjectDns {
  const bindings = isTable(unsafe) && Array.isArray(unsafe["bindings"]) ? unsafe["bindings"] : [];
  for (const [index, { dev }] of bindings.filter(isTable).entries()) {
    const plugin = isTable(dev) ? dev["plugin"] : null;
    if (dns !== undefined || !isTable(dev) || !isTable(plugin) || plugin["name"] !== "dns")
      continue;
    const origin = ["unsafe", "bindings", index, "dev", "options"];
    const reportThere: ReportMistake = ([, ...rest], problem) =>
      report([...origin, ...rest], problem);
    return { ...readDnsTable(dev["options"] ?? {}, secrets, reportThere), binding: undefined };
  }
  return readDnsTable(dns ?? {}, secrets, report);
}

/**
 * A message of wrangler or workerd about the compatibility date or a flag, with its place in the file: which
 * dates and flags exist is known there, and the file is known here. Other messages stay as they are.
 */
export function withPlace(config: ProjectConfig, message: string): string {
  // Miniflare quotes the log of workerd below its own message. Lines below the first are a stack otherwise.
  const text =
    /"message":"([^"]*\bcompatibility (?:date|flag)[^"]*)"/i.exec(message)?.[1] ?? message;
  const [, problem = "", about] =
    /^(?:service core:user:.*?: )?(.*\bcompatibility (date|flag).*)/i.exec(text) ?? [];
  if (config.path === null || about === undefined) return message;
  const flags: unknown[] = Array.isArray(config.table["compatibility_flags"])
    ? config.table["compatibility_flags"]
    : [];
  const index = flags.findIndex((flag) => problem.includes(String(flag)));
  if (about !== "date" && index === -1) return message;
  const place = about === "date" ? ["compatibility_date"] : ["compatibility_flags", index];
  return `${placeOf(config, place)}: ${problem}`;
}

/** The file, the line and the column of a value of the environment's table. */
export function placeOf({ path, environment, source }: ProjectConfig, place: Path): string {
  const file = readConfigFile(path ?? undefined) as ConfigFile;
  const environments = source["env"] as Record<string, Table> | undefined;
  const own = environment === undefined ? undefined : environments?.[environment];
  const isOwn = own !== undefined && Object.hasOwn(own, place[0] as string);
  const { line, column } = file.locate(isOwn ? ["env", environment as string, ...place] : place);
  return `${shownPath(file.path)}:${line}:${column}`;
}

/** The mistakes as sentences, in the order of the file. The defaults have no position. */
function located(file: ConfigFile | null, mistakes: readonly Mistake[]): string[] {
  if (file === null) return mistakes.map(({ problem }) => problem);
  return mistakes
    .map((mistake) => ({ ...file.locate(mistake.path), text: describeMistake(mistake) }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, text }) => `${shownPath(file.path)}:${line}:${column}: ${text}`);
}

function noBucketsWarning(file: ConfigFile | null, environment: string | undefined): string {
  const line = file?.locate(["store_buckets"]).line;
  return (
    `Environment "${environment}" has no buckets: environments do not inherit store_buckets ` +
    `(line ${line}). Add the key to env.${environment}, even as an empty list.`
  );
}

/**
 * The table of an environment. As in wrangler, `[env.NAME]` inherits the keys that say how the script
 * is built and run, and does not inherit bindings.
 *
 * Buckets are bindings: an environment that inherited the buckets of the top level would write to
 * the same objects without a word in the file. DNS is inherited, because a machine has one DNS for
 * all environments.
 */
function environmentTable(common: Table, own: Table, environment: string): Table {
  const inherited = Object.entries(common).filter(([key, value]) => isInherited(key, value));
  // The name that wrangler gives the script of an environment, so that both use the same state.
  const name = typeof common["name"] === "string" && { name: `${common["name"]}-${environment}` };
  return { ...Object.fromEntries(inherited), ...name, ...own };
}

function findEnvironment(file: ConfigFile | null, wanted: string, folder: string): Table {
  if (file === null) {
    throw new UserError(
      `No configuration file exists in ${folder} or above, so there is no environment ` +
        `"${wanted}": add a wrangler.jsonc, or leave the environment out.`,
    );
  }
  const known = isTable(file.table["env"]) ? file.table["env"] : {};
  const own = Object.hasOwn(known, wanted) ? known[wanted] : undefined;
  if (isTable(own)) return own;
  const path = shownPath(file.path);
  const names = Object.keys(known);
  if (names.length === 0) {
    throw new UserError(
      `${path} has no environment "${wanted}", and no other environment: ` +
        `add [env.${wanted}], or leave the environment out.`,
    );
  }
  const guess = nearest(wanted, names);
  throw new UserError(
    `${path} has no environment "${wanted}". ` +
      (guess === null
        ? `It has ${names.map((name) => `"${name}"`).join(", ")}.`
        : `Did you mean "${guess}"?`),
  );
}

/**
 * Reports names in `env` that two bindings have. One exception: a name may stand in `store_buckets` and
 * in `r2_buckets` (`deployed-buckets.ts`).
 */
function reportTakenNames(table: Table, secrets: readonly string[], report: ReportMistake): void {
  const owners = new Map(secrets.map((name) => [name, ".dev.vars"]));
  const { ours = [], others = [] } = Object.groupBy(bindingNames(table), ({ path }) =>
    isLedgeKey(path[0] as string) ? "ours" : "others",
  );
  for (const { name, path } of others) owners.set(name, fieldName(path));
  for (const { name, path } of ours) {
    if (!isIdentifier(name)) continue;
    const owner = owners.get(name);
    const isShared = path[0] === "store_buckets" && owner?.startsWith("r2_buckets[") === true;
    if (owner === undefined || isShared) owners.set(name, fieldName(path));
    else report(path, `"${name}" is already taken by ${owner}. Give one of them another name`);
  }
}

/** wrangler checks these two without a position. */
const compatibilitySchemas = {
  compatibility_date: compatibilityDateSchema,
  compatibility_flags: compatibilityFlagsSchema,
};

/** wrangler may know any other key, so a key that looks like a slip does not stop the project. */
function reportMisspeltKeys(table: Table, report: ReportMistake): void {
  for (const key of Object.keys(table)) {
    const guess = misspeltKey(key);
    if (guess !== null) report([key], `is not a key; did you mean "${guess}"?`);
  }
}
