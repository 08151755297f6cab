/**
 * `worker-configuration.d.ts`: what a script's `env` is, for the compiler.
 *
 * wrangler generates it, from a configuration in which our bindings are `unsafe` ones. Those it
 * calls `any`, and here they get their types.
 */
import { relative, resolve } from "node:path";
import { withDerivedFile } from "../../config/derived-file.ts";
import { isTable, type Table } from "../../config/config-file.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import { toWranglerTable } from "../../config/wrangler-config.ts";
import { isStoreFlag } from "../../plugin/compatibility.ts";
import { loadWrangler } from "../../base/runtime.ts";
import { UserError } from "../../base/user-error.ts";

export interface GenerateTypesOptions {
  configPath?: string;
  /** Types for one environment; without it, for the top level and all environments together. */
  environment?: string;
  /** Where to look for the configuration, and what paths start from. */
  folder?: string;
  /** Of the declaration file. */
  path?: string;
  envInterface?: string;
  includeEnv?: boolean;
  includeRuntime?: boolean;
  strictVars?: boolean;
  envFiles?: readonly string[];
  /** The command that makes the file again, for its header. */
  command?: string;
}

export interface GeneratedTypes {
  readonly path: string;
  readonly content: string;
}

const typesPathDefault = "worker-configuration.d.ts";

export async function generateTypes(options: GenerateTypesOptions = {}): Promise<GeneratedTypes> {
  const { includeEnv = true, includeRuntime = true } = options;
  const config = readConfig(options);
  const path = resolve(options.folder ?? ".", options.path ?? typesPathDefault);
  check(config, options);
  const environments = options.environment === undefined ? environmentsOf(config) : [];
  const table = withoutStoreFlags(
    environments.length === 0 ? toWranglerTable(config) : allTogether(config, environments),
  );
  const { experimental_generateTypes: generate } = loadWrangler();
  const { content } = await withDerivedFile(config, table, (configPath) =>
    generate({
      config: configPath,
      // Relative: it goes into the header, which is the same on every machine.
      path: relative(process.cwd(), path),
      includeEnv,
      includeRuntime,
      ...(options.environment !== undefined && { env: options.environment }),
      ...(options.envInterface !== undefined && { envInterface: options.envInterface }),
      ...(options.strictVars !== undefined && { strictVars: options.strictVars }),
      ...(options.envFiles !== undefined && { envFile: [...options.envFiles] }),
    }).catch(explain),
  );
  const types = bindingTypes([config, ...environments]);
  return { path, content: withOurTypes(content, types, options.command ?? "ledge types") };
}

function fail(problem: string): never {
  throw new UserError(problem);
}

function check(config: ProjectConfig, options: GenerateTypesOptions): void {
  const { includeEnv = true, includeRuntime = true, path = typesPathDefault } = options;
  if (config.path === null) {
    fail(`There is no configuration file in ${config.folder} or above it: add a wrangler.jsonc.`);
  }
  if (!path.endsWith(".d.ts")) fail(`${path} does not end in .d.ts: name a declaration file.`);
  if (!includeEnv && !includeRuntime) {
    fail("Nothing would be generated: include the types of env, those of the runtime, or both.");
  }
  if (includeRuntime && config.table["compatibility_date"] === undefined) {
    fail(
      "The types of the runtime depend on compatibility_date, which the configuration does not " +
        'have. Add it: "compatibility_date": "2026-08-01".',
    );
  }
  const { envInterface = "Env" } = options;
  if (!/^[a-zA-Z][a-zA-Z0-9_]*$/.test(envInterface)) {
    fail(`"${envInterface}" is not a name for an interface: use letters, digits and "_".`);
  }
}

function environmentsOf({ path, source }: ProjectConfig): ProjectConfig[] {
  const names = isTable(source["env"]) ? Object.keys(source["env"]) : [];
  return names.map((environment) => readConfig({ configPath: path as string, environment }));
}

function allTogether(config: ProjectConfig, environments: readonly ProjectConfig[]): Table {
  const tables = environments.map((each) => toWranglerTable(each)["env"] as Table);
  return { ...toWranglerTable(config), env: Object.assign({}, ...tables) as Table };
}

/** workerd makes the types, and refuses flags that it does not know. */
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

/** The type of each of our bindings, by its name. */
function bindingTypes(configs: readonly ProjectConfig[]): Map<string, string> {
  const types = new Map<string, string>();
  for (const { buckets, dns } of configs) {
    for (const { binding } of buckets) types.set(binding, "StoreBucket");
    if (dns.binding !== undefined) types.set(dns.binding, "Fetcher");
  }
  return types;
}

function withOurTypes(
  content: string,
  types: ReadonlyMap<string, string>,
  command: string,
): string {
  const lines = content.split("\n").map((line) => {
    if (line.startsWith("// Generated by Wrangler by running ")) {
      return `// Generated by Ledge by running \`${command}\``;
    }
    const [, start, name, type] = /^(\s+([\p{ID_Continue}$]+)\??: )(.*);$/u.exec(line) ?? [];
    const ours = types.get(name ?? "");
    if (start === undefined || type === undefined || ours === undefined) return line;
    return `${start}${type.replace(/^any$|\bany(?= \|)|(?<=\| )any\b/g, ours)};`;
  });
  if ([...types.values()].includes("StoreBucket")) {
    const headerEnd = lines.findIndex((line) => !/^(?:\/\/|\/\*)/.test(line));
    lines.splice(headerEnd, 0, '/// <reference types="ledge/types" />');
  }
  return lines.join("\n");
}

/** Mistakes in what is wrangler's are the user's too. */
function explain(error: unknown): never {
  if (error instanceof Error && "telemetryMessage" in error) {
    throw new UserError(error.message, { cause: error });
  }
  throw error;
}
