/**
 * A project as wrangler's dev server is given it.
 *
 * wrangler reads the configuration file itself, and takes the result as an object instead of the
 * file's path; so our keys in it disturb nobody, and paths are as they were meant. Our bindings
 * come beside it, as those of a program would.
 */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { unstable_readConfig } from "wrangler";
import { readConfig, type ProjectConfig } from "../config/read-config.ts";
import { unsafeBindings, type UnsafeBindingEntry } from "../config/wrangler-config.ts";
import type { RemoteOptions } from "../plugin/dns-plugin.ts";
import { loadMiniflare, pluginPath } from "../base/runtime.ts";
import { stateFolder } from "../base/state-folder.ts";
import { UserError } from "../base/user-error.ts";
import type { WorkerInput } from "./dev-worker.ts";
import { logLevelDefault, type StartDevOptions } from "./options.ts";
import type { ConsoleMessage, ScriptConsole } from "./script-console.ts";

type WranglerConfig = ReturnType<typeof unstable_readConfig>;

export interface Project {
  readonly config: ProjectConfig;
  readonly wrangler: WranglerConfig;
}

/** @throws UserError with what is wrong with the file */
export function readProject(
  options: StartDevOptions,
  readWranglerConfig: typeof unstable_readConfig,
): Project {
  const config = readProjectConfig(options);
  const { environment, script } = options;
  try {
    const wrangler = readWranglerConfig(
      {
        ...(config.path !== null && { config: config.path }),
        ...(script !== undefined && { script }),
        ...(environment !== undefined && { env: environment }),
      },
      { hideWarnings: true },
    );
    return { config, wrangler };
  } catch (error) {
    throw new UserError((error as Error).message, { cause: error });
  }
}

/** What is ours in the file, which can be known before wrangler is there. */
export function readProjectConfig(options: StartDevOptions): ProjectConfig {
  const { configPath, environment, folder } = options;
  return readConfig({
    ...(configPath !== undefined && { configPath }),
    ...(environment !== undefined && { environment }),
    ...(folder !== undefined && { folder }),
  });
}

/** Where a project's state is kept. */
export function persistFolder({ folder }: ProjectConfig, { persistTo }: StartDevOptions): string {
  return stateFolder(folder, persistTo);
}

/** What a script is started among. */
export interface Surroundings {
  readonly hostname: string;
  readonly port: number;
  readonly inspectorPort: number;
  /** Of the companion worker, unless it was left out. */
  readonly dns: RemoteOptions | null;
  /** Takes what the script says. */
  readonly console: ScriptConsole;
}

export function workerInput(
  project: Project,
  options: StartDevOptions,
  { hostname, port, inspectorPort, dns, console }: Surroundings,
): WorkerInput {
  const { config, wrangler } = project;
  const {
    script,
    environment,
    localProtocol,
    logLevel = logLevelDefault,
    variables = {},
  } = options;
  return {
    config: wrangler,
    ...(script !== undefined && { entrypoint: script }),
    ...(environment !== undefined && { env: environment }),
    bindings: {
      ...Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, { type: "plain_text", value }]),
      ),
      ...Object.fromEntries(
        ourBindings(config, options, dns).map(({ name, type, dev }) => [
          name,
          { type: `unsafe_${type}`, dev },
        ]),
      ),
    },
    legacy: {
      site: ({ site }: WranglerConfig) =>
        site && {
          bucket: resolve(config.folder, site.bucket),
          include: site.include ?? [],
          exclude: site.exclude ?? [],
        },
    },
    dev: {
      server: {
        hostname,
        port,
        ...(localProtocol !== undefined && { secure: localProtocol === "https" }),
      },
      inspector: { hostname: "127.0.0.1", port: inspectorPort },
      persist: persistFolder(config, options),
      // Dev servers of one machine find each other's scripts here, wrangler's among them.
      registry: loadMiniflare().getDefaultDevRegistryPath(),
      containerBuildId: randomBytes(4).toString("hex"),
      logLevel,
      structuredLogsHandler: (message: ConsoleMessage) => console.say(message),
    },
  };
}

function ourBindings(
  config: ProjectConfig,
  { storeLatencyMilliseconds = 0 }: StartDevOptions,
  dns: RemoteOptions | null,
): (Pick<UnsafeBindingEntry, "name" | "dev"> & { readonly type: string })[] {
  return unsafeBindings(config).flatMap(({ name, type, dev }) => {
    if (type === "store_bucket") {
      const latency = storeLatencyMilliseconds > 0 && {
        latency_milliseconds: storeLatencyMilliseconds,
      };
      return { name, type, dev: { ...dev, options: { ...dev.options, ...latency } } };
    }
    // Zones belong to the companion worker, which runs beside the script.
    if (dns === null) return [];
    const plugin = { package: pluginPath, name: "dns" as const };
    return { name, type: "dns_remote", dev: { plugin, options: { ...dns } } };
  });
}
