/**
 * The input of wrangler's dev server for a project.
 *
 * wrangler reads the configuration file, and its dev server accepts the result in place of the
 * path. So wrangler does not warn of the keys of Ledge, and resolves paths from the right folder.
 * The bindings of Ledge are added to the input.
 */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Unstable_Config as WranglerConfig } from "wrangler";
import { withoutServedBuckets } from "../config/deployed-buckets.ts";
import { readConfig, type ProjectConfig } from "../config/read-config.ts";
import { unsafeBindings, type UnsafeBindingEntry } from "../config/wrangler-config.ts";
import { loadMiniflare, loadWrangler, pluginPath } from "../base/runtime.ts";
import { stateFolder } from "../base/state-folder.ts";
import { UserError } from "../base/user-error.ts";
import { logLevelDefault, type StartDevOptions } from "./dev-options.ts";
import type { ScriptConsole } from "./script-console.ts";
import type { WorkerInput } from "./script-supervisor.ts";

export const inspectorHost = "127.0.0.1";

export interface Project {
  readonly config: ProjectConfig;
  readonly wrangler: WranglerConfig;
}

/** @throws UserError with the mistakes of the file */
export function readProject(options: StartDevOptions): Project {
  const config = readConfig(options);
  const { environment, script } = options;
  try {
    const wrangler = loadWrangler().unstable_readConfig(
      {
        ...(config.path !== null && { config: config.path }),
        ...(script !== undefined && { script }),
        ...(environment !== undefined && { env: environment }),
      },
      { hideWarnings: true },
    );
    return { config, wrangler: withoutServedBuckets(wrangler, config.buckets) };
  } catch (error) {
    throw new UserError((error as Error).message, { cause: error });
  }
}

/** The addresses and services around a script. */
export interface WorkerSurroundings {
  readonly hostname: string;
  readonly port: number;
  /** `null` without an inspector. */
  readonly inspectorPort: number | null;
  readonly hasDns: boolean;
  readonly console: ScriptConsole;
}

export function workerInput(
  project: Project,
  options: StartDevOptions,
  { hostname, port, inspectorPort, hasDns, console }: WorkerSurroundings,
): WorkerInput {
  const { config, wrangler } = project;
  const { script, environment, localProtocol, logLevel, variables = {} } = options;
  return {
    config: wrangler,
    ...(script !== undefined && { entrypoint: script }),
    ...(environment !== undefined && { env: environment }),
    bindings: {
      ...Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, { type: "plain_text", value }]),
      ),
      ...Object.fromEntries(
        ledgeBindings(config, options, hasDns).map(({ name, type, dev }) => [
          name,
          { type: `unsafe_${type}`, dev },
        ]),
      ),
      ...(inspectorPort === null && { [exceptionsName]: exceptionsEntry }),
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
      // Beside wrangler's inspector, workerd opens one that accepts the requests of any web page. It
      // can run code in the script and read its memory, so there is none that was not asked for.
      inspector: inspectorPort === null ? false : { hostname: inspectorHost, port: inspectorPort },
      persist: stateFolder(config.folder, options.persistTo),
      // Dev servers of one machine, also wrangler's, find each other's scripts in this registry.
      registry: loadMiniflare().getDefaultDevRegistryPath(),
      containerBuildId: randomBytes(4).toString("hex"),
      logLevel: logLevel ?? logLevelDefault,
      structuredLogsHandler: console.write.bind(console),
    },
  };
}

/** The exceptions that wrangler would get from the inspector. The script does not see this binding. */
const exceptionsName = "LEDGE_EXCEPTIONS";
export const hiddenBindings: ReadonlySet<string> = new Set([exceptionsName]);
const exceptionsEntry = {
  type: "unsafe_exceptions" as const,
  dev: { plugin: { package: pluginPath, name: "exceptions" }, options: {} },
};

function ledgeBindings(
  config: ProjectConfig,
  { storeLatencyMilliseconds = 0 }: StartDevOptions,
  hasDns: boolean,
): (Pick<UnsafeBindingEntry, "name" | "dev"> & { readonly type: string })[] {
  return unsafeBindings(config).flatMap(({ name, type, dev }) => {
    if (type === "store_bucket") {
      const latency = storeLatencyMilliseconds > 0 && {
        latency_milliseconds: storeLatencyMilliseconds,
      };
      return { name, type, dev: { ...dev, options: { ...dev.options, ...latency } } };
    }
    // The dev server starts the companion worker itself.
    if (!hasDns) return [];
    const plugin = { package: pluginPath, name: "dns" as const };
    return { name, type: "dns_remote", dev: { plugin, options: {} } };
  });
}
