/**
 * The project's configuration, checked: what a dev server, tests and tools need to know of it.
 * Everything that is wrong with what is ours in it is said at once; what is wrangler's is left to
 * wrangler.
 */
import { dirname, resolve } from "node:path";
import { UserError } from "../base/user-error.ts";
import { BoundNames } from "./bound-names.ts";
import { readConfigFile, type ConfigFile, type Table } from "./config-file.ts";
import { readDevVariables } from "./dev-variables.ts";
import { readDns, type ProjectDns } from "./dns-table.ts";
import { effectiveTable } from "./environment.ts";
import { Mistakes, type Report } from "./mistakes.ts";
import { reportMisspeltKeys } from "./misspelt-keys.ts";
import { readBuckets, type BucketBinding } from "./store-buckets.ts";

export type { ProjectDns } from "./dns-table.ts";
export type { BucketBinding } from "./store-buckets.ts";

export interface ProjectConfig {
  /** Of the file; `null` when there is none. */
  readonly path: string | null;
  /** Of the file, or the working folder. */
  readonly folder: string;
  readonly environment?: string;
  /** The file as it was written. */
  readonly source: Table;
  /** What holds for the environment. */
  readonly table: Table;
  readonly buckets: readonly BucketBinding[];
  readonly dns: ProjectDns;
  readonly warnings: readonly string[];
}

export interface ReadConfigOptions {
  /** The nearest file in or above the folder without it. */
  configPath?: string;
  environment?: string;
  /** Where to look, and what a relative path starts from; the working folder without it. */
  folder?: string;
}

/** @throws UserError that lists every mistake with its file, line and field */
export function readConfig(options: ReadConfigOptions = {}): ProjectConfig {
  const { configPath, environment } = options;
  const start = resolve(options.folder ?? ".");
  const file = readConfigFile(configPath, start);
  if (file === null) return withoutFile(start, environment);

  const folder = dirname(file.path);
  const { table, origin, leavesBuckets } = effectiveTable(file, environment);
  const mistakes = new Mistakes(file);
  const report: Report = ([key, ...rest], problem) =>
    mistakes.add([...origin(key as string), ...rest], problem);
  const secrets = readDevVariables(folder, environment);
  const names = new BoundNames(table, Object.keys(secrets));
  reportMisspeltKeys(table, report);
  const buckets = readBuckets(table, names, report);
  const dns = readDns(table, secrets, names, report);
  mistakes.throwIfAny();

  return {
    path: file.path,
    folder,
    ...(environment !== undefined && { environment }),
    source: file.table,
    table,
    buckets,
    dns,
    warnings: leavesBuckets ? [leftBuckets(file, environment as string)] : [],
  };
}

/** A folder without a file has no buckets, and the DNS of the defaults. */
function withoutFile(folder: string, environment: string | undefined): ProjectConfig {
  if (environment !== undefined) {
    throw new UserError(
      `There is no configuration file in ${folder} or above it, and so no environment ` +
        `"${environment}": add a wrangler.jsonc, or leave the environment out.`,
    );
  }
  const nothing: Table = {};
  const secrets = readDevVariables(folder);
  const dns = readDns(nothing, secrets, new BoundNames(nothing), (_, problem) => {
    throw new UserError(problem);
  });
  return { path: null, folder, source: nothing, table: nothing, buckets: [], dns, warnings: [] };
}

function leftBuckets({ locate }: ConfigFile, environment: string): string {
  const { line } = locate(["store_buckets"]);
  return (
    `Environment "${environment}" has no buckets: environments do not inherit store_buckets ` +
    `(line ${line}). Add it to env.${environment}, if only as an empty list.`
  );
}
