/**
 * The configuration files of the scripts, as the wrapped plugin reads them.
 *
 * The plugin reads all files in one call, its hook `config`. For this call each file has a temporary copy
 * without the keys of Ledge (wrangler would warn of them), in the same folder, because paths and `.dev.vars`
 * are found from there. The option `config` of the plugin, a function, changes what was read:
 *
 *     dev      the buckets that the store serves become bindings of Ledge's plugin
 *     build    nothing is changed: the output is deployed, with `r2_buckets` as they were written
 *     preview  the plugin reads the output of the build, and has no such function. So the copies of the
 *              output have the bindings, and `.wrangler/deploy/config.json` of another root names the copies
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { PluginConfig } from "@cloudflare/vite-plugin";
import type { ConfigEnv, loadEnv, UserConfig } from "vite";
import { isTable, type Table } from "../base/schema.ts";
import { UserError } from "../base/user-error.ts";
import { readConfigFile } from "../config/config-file.ts";
import { withoutLedgeKeys } from "../config/keys.ts";
import { newsOf, readConfig, type ProjectConfig } from "../config/read-config.ts";
import { toWranglerTable, withTemporaryConfigs } from "../config/wrangler-config.ts";

/** The options of a script: of the entry, of an auxiliary script or of a script that renders pages. */
interface WorkerOptions {
  configPath?: string;
  config?: unknown;
}

type Customizer = (config: Table, ...others: unknown[]) => unknown;

interface WorkerConfigsContext {
  readonly adopt: boolean | undefined;
  readonly loadEnv: typeof loadEnv;
}

/** In the order in which the plugin searches the root. */
const fileNames = ["wrangler.jsonc", "wrangler.json", "wrangler.toml"];

export class WorkerConfigs {
  /** For the plugin, which reads them when its hook is called. */
  readonly options: PluginConfig;
  readonly #context: WorkerConfigsContext;
  readonly #given: readonly WorkerOptions[];
  readonly #workers: readonly WorkerOptions[];
  #projects: readonly ProjectConfig[] = [];

  constructor(given: PluginConfig, context: WorkerConfigsContext) {
    if (given.experimental?.newConfig !== undefined && given.experimental.newConfig !== false) {
      throw new UserError(
        "ledge/vite reads wrangler.jsonc, wrangler.json or wrangler.toml, and the option " +
          "experimental.newConfig replaces these files. Leave the option out, or use cloudflare().",
      );
    }
    this.options = copyOptions(given);
    this.#given = workersOf(given);
    this.#workers = workersOf(this.options);
    this.#context = context;
  }

  /** The configuration of each script that has a file, the entry first, after the last call of the hook. */
  get projects(): readonly ProjectConfig[] {
    return this.#projects;
  }

  /** Calls the hook of the plugin with other files. */
  async resolve<Result>(
    viteConfig: UserConfig,
    { command, mode, isPreview = false }: ConfigEnv,
    hook: (viteConfig: UserConfig) => Result | Promise<Result>,
  ): Promise<Result> {
    const root = resolve(viteConfig.root ?? ".");
    const variables = this.#context.loadEnv(mode, root, "CLOUDFLARE_");
    if (isPreview) {
      // The plugin would look for these variables in files of the other root.
      Object.assign(process.env, variables);
      return this.#preview(root, (shadow) => hook({ ...viteConfig, root: shadow }));
    }
    const entry = variables["CLOUDFLARE_VITE_WRANGLER_CONFIG_PATH"];
    const projects = this.#given.map(({ configPath }, index) => {
      const path = configPath ?? (index === 0 ? (entry ?? findFile(root)) : undefined);
      return path === undefined
        ? null
        : this.#read(resolve(root, path), variables["CLOUDFLARE_ENV"]);
    });
    const files = projects.filter((project) => project !== null);
    const copies = files.map((project) => ({
      ...project,
      table: withoutLedgeKeys(project.source),
    }));
    const result = await withTemporaryConfigs(copies, (paths) => {
      for (const [index, project] of projects.entries()) {
        const options = this.#workers[index] as WorkerOptions;
        if (project === null) continue;
        options.configPath = paths[files.indexOf(project)];
        options.config = customizer(this.#given[index]?.config, project, command === "serve");
      }
      return hook(viteConfig);
    });
    this.#setProjects(files);
    return result;
  }

  async #preview<Result>(
    root: string,
    hook: (shadow: string) => Result | Promise<Result>,
  ): Promise<Result> {
    const deployPath = join(root, ".wrangler/deploy/config.json");
    // The plugin says that a build is missing.
    if (!existsSync(deployPath)) return hook(root);
    const deployed = JSON.parse(readFileSync(deployPath, "utf8")) as DeployedPaths;
    const built = pathsOf(deployed).map((path) => resolve(dirname(deployPath), path));
    const outputs = built.map((path) => this.#readOutput(path));
    const result = await withTemporaryConfigs(outputs, async (copies) => {
      const shadow = mkdtempSync(join(tmpdir(), "ledge-"));
      try {
        mkdirSync(join(shadow, ".wrangler/deploy"), { recursive: true });
        writeFileSync(
          join(shadow, ".wrangler/deploy/config.json"),
          JSON.stringify(withPaths(deployed, copies)),
        );
        return await hook(shadow);
      } finally {
        rmSync(shadow, { recursive: true, force: true });
      }
    });
    this.#setProjects(outputs.flatMap(({ project }) => project ?? []));
    return result;
  }

  /** The file of a build, which names the file that it was made from. */
  #readOutput(path: string) {
    const source = JSON.parse(readFileSync(path, "utf8")) as Table;
    const { configPath, targetEnvironment } = source;
    const copy = { path, folder: dirname(path), table: source, project: null };
    if (typeof configPath !== "string" || !existsSync(configPath)) return copy;
    const environment = typeof targetEnvironment === "string" ? targetEnvironment : undefined;
    const project = this.#read(configPath, environment);
    const table = toWranglerTable({ ...project, environment: undefined, source });
    return { ...copy, table, project };
  }

  #read(path: string, environment: string | undefined): ProjectConfig {
    // wrangler reads a file without environments in every environment, and only warns.
    const hasEnvironments = isTable(readConfigFile(path)?.table["env"]);
    return readConfig({
      configPath: path,
      environment: hasEnvironments ? environment : undefined,
      adopt: this.#context.adopt,
    });
  }

  #setProjects(projects: readonly ProjectConfig[]): void {
    this.#projects = projects;
    for (const news of projects.flatMap(newsOf)) console.warn(news);
  }
}

/** `.wrangler/deploy/config.json`, which a build writes. */
interface DeployedPaths {
  readonly configPath: string;
  readonly auxiliaryWorkers: readonly { readonly configPath: string }[];
  readonly prerenderWorkerConfigPath?: string;
}

function pathsOf(deployed: DeployedPaths): string[] {
  const { configPath, auxiliaryWorkers, prerenderWorkerConfigPath } = deployed;
  const others = auxiliaryWorkers.map((worker) => worker.configPath);
  return [configPath, ...others, prerenderWorkerConfigPath].filter((path) => path !== undefined);
}

/** @param paths in the order of `pathsOf` */
function withPaths(deployed: DeployedPaths, paths: readonly string[]): DeployedPaths {
  const { auxiliaryWorkers: others, prerenderWorkerConfigPath: prerender } = deployed;
  return {
    configPath: paths[0] as string,
    auxiliaryWorkers: others.map((_, index) => ({ configPath: paths[index + 1] as string })),
    ...(prerender !== undefined && { prerenderWorkerConfigPath: paths.at(-1) }),
  };
}

/** A copy that can be changed for the plugin, at the places of `workersOf`. */
function copyOptions(given: PluginConfig): PluginConfig {
  const { auxiliaryWorkers, experimental } = given;
  const prerender = experimental?.prerenderWorker;
  return {
    ...given,
    ...(auxiliaryWorkers && { auxiliaryWorkers: auxiliaryWorkers.map((each) => ({ ...each })) }),
    ...(prerender && { experimental: { ...experimental, prerenderWorker: { ...prerender } } }),
  };
}

function workersOf(options: PluginConfig): WorkerOptions[] {
  const prerender = options.experimental?.prerenderWorker;
  return [options, ...(options.auxiliaryWorkers ?? []), ...(prerender ? [prerender] : [])];
}

function findFile(root: string): string | undefined {
  return fileNames.find((name) => existsSync(join(root, name)));
}

/**
 * The option `config` for the plugin: the given option, and then the changes of this file. The plugin merges what the
 * function returns into the configuration.
 */
function customizer(given: unknown, project: ProjectConfig, isDev: boolean): Customizer {
  return (config, ...others) => {
    Object.assign(config, { configPath: project.path, userConfigPath: project.path });
    const result = typeof given === "function" ? (given as Customizer)(config, ...others) : given;
    if (isDev) {
      const { r2_buckets, unsafe } = toWranglerTable({
        ...project,
        environment: undefined,
        source: config,
      });
      Object.assign(config, { r2_buckets, unsafe });
    }
    return result;
  };
}
