/**
 * `worker-configuration.d.ts`: the types of a script's `env`.
 *
 * wrangler generates the file from a configuration in which our bindings are `unsafe` bindings.
 * wrangler gives those the type `any`; `withBindingTypes()` replaces it with their own types. A bucket
 * that a deploy has too keeps wrangler's type: the script runs on both.
 */
import { relative, resolve } from "node:path";
import { isTable, type Table } from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { loadWrangler } from "../base/wrangler.ts";
import { deployedBuckets } from "../config/deployed-buckets.ts";
import {
  newsOf,
  readConfig,
  withPlace,
  type ProjectConfig,
  type ReadConfigOptions,
} from "../config/read-config.ts";
import { toWranglerTable, withTemporaryConfigs } from "../config/wrangler-config.ts";
import { isStoreFlag } from "../store/config/store-buckets.ts";

/** Without `environment`, the types are for the top level and all environments together. */
export interface GenerateTypesOptions extends ReadConfigOptions {
  /** The declaration file, relative to `folder`. */
  path?: string;
  envInterface?: string;
  includeEnv?: boolean;
  includeRuntime?: boolean;
  strictVars?: boolean;
  envFiles?: readonly string[];
  /** The configuration files of scripts that bindings name: their classes become the types of the bindings. */
  auxiliaryConfigPaths?: readonly string[];
  /** The command that writes the file, for its header. */
  command?: string;
}

export async function generateTypes(
  options: GenerateTypesOptions = {},
): Promise<{ readonly path: string; readonly content: string }> {
  const { includeEnv = true, includeRuntime = true, envInterface = "Env", environment } = options;
  const config = withoutDeployedBuckets(readConfig({ ...options, keysOptional: true }));
  const path = resolve(options.folder ?? ".", options.path ?? "worker-configuration.d.ts");
  if (config.path === null) {
    fail(`There is no configuration file in ${config.folder} or above it: add a wrangler.jsonc.`);
  }
  for (const warning of newsOf(config)) console.warn(warning);
  if (!path.endsWith(".d.ts")) {
    fail(`${options.path} does not end in .d.ts: name a declaration file.`);
  }
  if (!includeEnv && !includeRuntime) {
    fail("There is nothing to generate: include the types of env, of the runtime, or both.");
  }
  if (includeRuntime && config.table["compatibility_date"] === undefined) {
    fail(
      "The types of the runtime depend on compatibility_date, and the configuration has none. " +
        'Add "compatibility_date": "2026-08-01".',
    );
  }
  if (!/^[a-zA-Z][a-zA-Z0-9_]*$/.test(envInterface)) {
    fail(`"${envInterface}" is not a name for an interface: use letters, digits and "_".`);
  }
  const environments = environment === undefined ? environmentsOf(config) : [];
  const table = withoutStoreFlags(
    environments.length === 0 ? toWranglerTable(config) : mergeEnvironments(config, environments),
  );
  const { experimental_generateTypes: generate } = loadWrangler();
  const others = (options.auxiliaryConfigPaths ?? []).map((configPath) => {
    const other = readConfig({ configPath, folder: options.folder, keysOptional: true });
    return { ...other, table: withoutStoreFlags(toWranglerTable(other)) };
  });
  const { content } = await withTemporaryConfigs([{ ...config, table }, ...others], (configPaths) =>
    generate({
      config: configPaths,
      // The path stands in the header, which must be the same on every machine.
      path: relative(process.cwd(), path),
      includeEnv,
      includeRuntime,
      env: environment,
      envInterface: options.envInterface,
      strictVars: options.strictVars,
      envFile: options.envFiles && [...options.envFiles],
    }).catch((error: unknown) => explain(config, error)),
  );
  const types = bindingTypes([config, ...environments]);
  return { path, content: withBindingTypes(content, types, options.command ?? "ledge types") };
}

function fail(problem: string): never {
  throw new UserError(problem);
}

function environmentsOf({ path, source }: ProjectConfig): ProjectConfig[] {
  const names = isTable(source["env"]) ? Object.keys(source["env"]) : [];
  return names.map((environment) =>
    withoutDeployedBuckets(
      readConfig({ configPath: path as string, environment, keysOptional: true }),
    ),
  );
}

function withoutDeployedBuckets(config: ProjectConfig): ProjectConfig {
  const deployed = new Set(deployedBuckets(config.table).map(({ binding }) => binding));
  return { ...config, buckets: config.buckets.filter(({ binding }) => !deployed.has(binding)) };
}

function mergeEnvironments(config: ProjectConfig, environments: readonly ProjectConfig[]): Table {
  const tables = environments.map((each) => toWranglerTable(each)["env"] as Table);
  return { ...toWranglerTable(config), env: Object.assign({}, ...tables) as Table };
}

/** workerd generates the types, and refuses flags that it does not know. */
function withoutStoreFlags(table: Table): Table {
  const { compatibility_flags: flags, env, ...rest } = table;
  return {
    ...rest,
    ...(Array.isArray(flags) && {
      compatibility_flags: flags.filter((flag) => !isStoreFlag(String(flag))),
    }),
    ...(isTable(env) && {
      env: Object.fromEntries(
        Object.entries(env).map(([name, own]) => [name, withoutStoreFlags(own as Table)]),
      ),
    }),
  };
}

function bindingTypes(configs: readonly ProjectConfig[]): Map<string, string> {
  const types = new Map<string, string>();
  for (const { buckets, dns } of configs) {
    for (const { binding } of buckets) types.set(binding, "StoreBucket");
    if (dns.binding !== undefined) types.set(dns.binding, "Fetcher");
  }
  return types;
}

function withBindingTypes(
  content: string,
  types: ReadonlyMap<string, string>,
  command: string,
): string {
  const lines = content.split("\n").map((line) => {
    if (line.startsWith("// Generated by Wrangler by running ")) {
      return `// Generated by Ledge by running \`${command}\``;
    }
    const [, start, name, type] = /^(\s+([\p{ID_Continue}$]+)\??: )(.*);$/u.exec(line) ?? [];
    const bindingType = types.get(name ?? "");
    if (start === undefined || type === undefined || bindingType === undefined) return line;
    return `${start}${type.replace(/^any$|\bany(?= \|)|(?<=\| )any\b/g, bindingType)};`;
  });
  if ([...types.values()].includes("StoreBucket")) {
    const headerEnd = lines.findIndex((line) => !/^(?:\/\/|\/\*)/.test(line));
    lines.splice(headerEnd, 0, '/// <reference types="ledge/types" />');
  }
  return lines.join("\n");
}

/**
 * Whether a file may be replaced by types, and what the user should know of it.
 *
 * @param content of the file that exists
 * @param command the command that replaces the file
 * @throws UserError for a file that neither Ledge nor wrangler has written
 */
export function replacedTypesNote(path: string, content: string, command: string): string | null {
  const [, before] =
    /^\/\/ Generated by (?:Ledge|Wrangler) by running `(.*?)`/m.exec(content) ?? [];
  if (before === undefined && !content.includes("// Runtime types generated with workerd")) {
    fail(
      `${path} is no file of "ledge types" or "wrangler types", so it stays as it is. Name another file ` +
        `(ledge types src/env.d.ts), or remove this file.`,
    );
  }
  if (before === undefined || configFiles(before) === configFiles(command)) return null;
  return `${path} had the types of another configuration: "${before}" wrote it.`;
}

function configFiles(command: string): string {
  return (command.match(/(?<=(?:--config|-c)[ =])\S+/g) ?? []).join();
}

/**
 * wrangler's own errors, which have a `telemetryMessage`, are mistakes in the configuration; so is a
 * compatibility flag that workerd does not know.
 */
function explain(config: ProjectConfig, error: unknown): never {
  if (!(error instanceof Error)) throw error;
  const message = error.message.replace(/^Error: /, "");
  const located = withPlace(config, message);
  if (located === message && !("telemetryMessage" in error)) throw error;
  throw new UserError(located, { cause: error });
}
