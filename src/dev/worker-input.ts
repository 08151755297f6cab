/**
 * The input of wrangler's dev server for a project.
 *
 * wrangler reads the configuration file, and its dev server accepts the result in place of the
 * path. So wrangler does not warn of the keys of Ledge, and resolves paths from the right folder.
 * The bindings of Ledge are added to the input.
 */
import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { withoutServedBuckets } from "../config/deployed-buckets.ts";
import { readConfig, type ProjectConfig } from "../config/read-config.ts";
import { unsafeBindings, type UnsafeBindingEntry } from "../config/wrangler-config.ts";
import { devRegistryPath } from "../base/miniflare.ts";
import { pluginPath } from "../base/runtime.ts";
import { stateFolder } from "../state/folder.ts";
import { UserError } from "../base/user-error.ts";
import { loadWrangler, type WorkerInput, type WranglerConfig } from "../base/wrangler.ts";
import { logLevelDefault, type StartDevOptions } from "./dev-options.ts";
import { requireScript } from "./require-script.ts";
import type { ScriptConsole } from "./script-console.ts";

export const inspectorHost = "127.0.0.1";

export interface Project {
  readonly config: ProjectConfig;
  readonly wrangler: WranglerConfig;
}

/** @throws UserError with the mistakes of the file */
export function readProject(options: StartDevOptions): Project {
  const config = readConfig(options);
  const { environment, script } = options;
  const wrangler = readWithWrangler(config, environment, script);
  requireScript(config, wrangler, script);
  return { config, wrangler: withoutServedBuckets(wrangler, config.buckets) };
}

function readWithWrangler(
  { path }: ProjectConfig,
  environment: string | undefined,
  script: string | undefined,
): WranglerConfig {
  try {
    return loadWrangler().unstable_readConfig(
      {
        ...(path !== null && { config: path }),
        ...(script !== undefined && { script }),
        ...(environment !== undefined && { env: environment }),
      },
      { hideWarnings: true },
    );
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
  /** Whether the console receives each invocation of the script, for the explorer. */
  readonly isObserved?: boolean;
  readonly console: ScriptConsole;
}

export function workerInput(
  project: Project,
  options: StartDevOptions,
  { hostname, port, inspectorPort, hasDns, isObserved = false, console }: WorkerSurroundings,
): WorkerInput {
  const { config, wrangler } = project;
  const { script, environment, localProtocol, logLevel, variables = {} } = options;
  const { envFiles, compatibilityDate, define, host, liveReload, testScheduled } = options;
  return {
    config: wrangler,
    ...(script !== undefined && { entrypoint: script }),
    ...(environment !== undefined && { env: environment }),
    // wrangler would look for them beside the configuration file.
    ...(envFiles !== undefined && { envFiles: envFiles.map((path) => resolve(path)) }),
    ...(compatibilityDate !== undefined && { compatibilityDate }),
    ...(define !== undefined && { build: { define } }),
    bindings: {
      ...Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, { type: "plain_text", value }]),
      ),
      ...Object.fromEntries(
        ledgeBindings(config, options, { hasDns, isObserved }).map(({ name, type, dev }) => [
          name,
          { type: `unsafe_${type}`, dev },
        ]),
      ),
      ...(inspectorPort === null && { [exceptionsName]: exceptionsEntry }),
      ...(isObserved && { [activityName]: activityEntry }),
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
      ...(host !== undefined && { origin: { hostname: host } }),
      ...(liveReload !== undefined && { liveReload }),
      ...(testScheduled !== undefined && { testScheduled }),
      persist: stateFolder(config.folder, options.persistTo),
      // wrangler's dev servers use the same registry.
      registry: devRegistryPath(),
      containerBuildId: randomBytes(4).toString("hex"),
      logLevel: logLevel ?? logLevelDefault,
      structuredLogsHandler: console.write.bind(console),
    },
  };
}

/** The exceptions that wrangler would get from the inspector. The script does not see this binding. */
const exceptionsName = "LEDGE_EXCEPTIONS";
/** The invocations that the explorer shows. The script does not see this binding either. */
const activityName = "LEDGE_ACTIVITY";
export const hiddenBindings: ReadonlySet<string> = new Set([exceptionsName, activityName]);
const activityEntry = {
  type: "unsafe_activity" as const,
  dev: { plugin: { package: pluginPath, name: "activity" }, options: {} },
};
const exceptionsEntry = {
  type: "unsafe_exceptions" as const,
  dev: { plugin: { package: pluginPath, name: "exceptions" }, options: {} },
};

function ledgeBindings(
  config: ProjectConfig,
  { storeLatencyMilliseconds = 0 }: StartDevOptions,
  { hasDns, isObserved }: { readonly hasDns: boolean; readonly isObserved: boolean },
): (Pick<UnsafeBindingEntry, "name" | "dev"> & { readonly type: string })[] {
  return unsafeBindings(config).flatMap(({ name, type, dev }) => {
    if (type === "store_bucket") {
      const latency = storeLatencyMilliseconds > 0 && {
        latency_milliseconds: storeLatencyMilliseconds,
      };
      const observed = isObserved && { observed: true };
      return { name, type, dev: { ...dev, options: { ...dev.options, ...latency, ...observed } } };
    }
    // The dev server starts the companion worker itself.
    if (!hasDns) return [];
    const plugin = { package: pluginPath, name: "dns" as const };
    return { name, type: "dns_remote", dev: { plugin, options: {} } };
  });
}
