/**
 * The input of wrangler's dev server for a project.
 *
 * wrangler reads the configuration file, and its dev server accepts the result in place of the
 * path. So wrangler does not warn of the keys of Ledge, and resolves paths from the right folder.
 * The bindings of Ledge are added to the input.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { pluginPath } from "../base/runtime.ts";
import { NotFoundError, UserError } from "../base/user-error.ts";
import {
  devRegistryPath,
  loadWrangler,
  type WorkerInput,
  type WranglerConfig,
} from "../base/wrangler.ts";
import { readDevVariables, shownPath } from "../config/config-file.ts";
import { withoutServedBuckets } from "../config/deployed-buckets.ts";
import { withoutLedgeKeys } from "../config/keys.ts";
import { readConfig, withPlace, type ProjectConfig } from "../config/read-config.ts";
import { unsafeBindings, type UnsafeBindingEntry } from "../config/wrangler-config.ts";
import { logLevelDefault, scriptOptions, type StartDevOptions } from "./dev-options.ts";
import type { ScriptConsole } from "./script-console.ts";

export interface Project {
  readonly config: ProjectConfig;
  readonly wrangler: WranglerConfig;
}

/**
 * The projects of a dev server, in the order of `scriptOptions()`.
 *
 * @throws UserError with the mistakes of a file
 */
export function readProjects(options: StartDevOptions): Project[] {
  const projects = scriptOptions(options).map(readProject);
  const names = projects.map(({ wrangler }) => wrangler.name);
  const twice = names.find((name, index) => name !== undefined && names.indexOf(name) < index);
  if (twice === undefined) return projects;
  throw new UserError(
    `Two configuration files name their script "${twice}". Give one of the scripts another name.`,
  );
}

/** What concerns the scripts together: the buckets of all, and the first configuration for the rest. */
export function jointConfig(configs: readonly ProjectConfig[]): ProjectConfig {
  const buckets = configs.flatMap((config) => config.buckets);
  return { ...(configs[0] as ProjectConfig), buckets };
}

function readProject(options: StartDevOptions): Project {
  const config = readConfig(options);
  const { environment: env, script, assets: directory } = options;
  let wrangler: WranglerConfig;
  try {
    const selection = { config: config.path ?? undefined, script, env };
    wrangler = loadWrangler().unstable_readConfig(selection, { hideWarnings: true });
  } catch (error) {
    throw new UserError((error as Error).message, { cause: error });
  }
  requireScript(
    config,
    directory === undefined ? wrangler : { ...wrangler, assets: { directory } },
    script,
  );
  const served = withoutServedBuckets(wrangler, config.buckets);
  return { config, wrangler: { ...served, ...scriptSecrets(config, options) } };
}

/**
 * wrangler gives the script every line of `.dev.vars`, unless `secrets` names those of the script. The lines of Ledge
 * (`LEDGE_…`) are keys of S3 services, which the script must not have.
 */
function scriptSecrets(
  { folder, environment, table }: ProjectConfig,
  { envFiles }: StartDevOptions,
): { readonly secrets?: { readonly required: string[] } } {
  const names = Object.keys(readDevVariables(folder, environment, envFiles));
  const required = names.filter((name) => !name.startsWith("LEDGE_"));
  const isFiltered = required.length < names.length && table["secrets"] === undefined;
  return isFiltered ? { secrets: { required } } : {};
}

/** The addresses and services around a script. */
export interface WorkerSurroundings {
  readonly hostname: string;
  readonly port: number;
  /** `null` without an inspector. */
  readonly inspector: { readonly hostname: string; readonly port: number } | null;
  readonly hasDns: boolean;
  /** Whether the console receives each invocation of the script, for the explorer. */
  readonly isObserved: boolean;
  readonly console: ScriptConsole;
  /** The id of this dev server as a member of the edge; `null` where there is no edge. */
  readonly memberId: string | null;
  readonly stateFolder: string;
  /** Whether the script has the address; `undefined` without scripts beside it. */
  readonly isPrimary: boolean | undefined;
}

export function workerInput(
  project: Project,
  options: StartDevOptions,
  surroundings: WorkerSurroundings,
): WorkerInput {
  const { config, wrangler } = project;
  const { hostname, port, inspector, isObserved, console, memberId, isPrimary } = surroundings;
  const { script, environment, logLevel, envFiles, assets, variables = {} } = options;
  const { compatibilityDate, compatibilityFlags, routes, localProtocol, upstreamProtocol } =
    options;
  const { host, inferOriginFromRoutes, liveReload, testScheduled, enableContainers } = options;
  return {
    config: wrangler,
    name: options.name,
    entrypoint: script,
    env: environment,
    // wrangler would look for them beside the configuration file.
    envFiles: envFiles?.map((path) => resolve(path)),
    compatibilityDate,
    compatibilityFlags: compatibilityFlags && [...compatibilityFlags],
    triggers: routes?.map((pattern) => ({ type: "route", pattern })),
    assets,
    build: buildInput(options),
    bindings: {
      ...Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, { type: "plain_text", value }]),
      ),
      ...Object.fromEntries(
        ledgeBindings(config, options, surroundings).map(({ name, type, dev }) => [
          name,
          { type: `unsafe_${type}`, dev },
        ]),
      ),
      ...(inspector === null && { [exceptionsName]: hiddenBinding("exceptions") }),
      ...(isObserved && { [activityName]: hiddenBinding("activity") }),
      ...(memberId !== null &&
        isPrimary !== false && { [edgeName]: hiddenBinding("edge", { member: memberId }) }),
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
        secure: localProtocol && localProtocol === "https",
        httpsKeyPath: options.httpsKeyPath,
        httpsCertPath: options.httpsCertPath,
      },
      // Beside wrangler's inspector, workerd opens one that accepts the requests of any web page. It
      // can run code in the script and read its memory, so there is none that was not asked for.
      inspector: inspector ?? false,
      origin: { hostname: host, secure: upstreamProtocol && upstreamProtocol === "https" },
      inferOriginFromRoutes,
      liveReload,
      testScheduled,
      // With `false`, wrangler simulates what the configuration calls remote.
      remote: options.remoteBindings === false ? false : undefined,
      enableContainers,
      persist: surroundings.stateFolder,
      multiworkerPrimary: isPrimary,
      // wrangler's dev servers use the same registry.
      registry: devRegistryPath(),
      containerBuildId: randomBytes(4).toString("hex"),
      logLevel: logLevel ?? logLevelDefault,
      structuredLogsHandler: ({ level, message }: { level: string; message: string }) =>
        console.write({ level, message: withPlace(config, message) }),
    },
  };
}

/** What the options say of the build. Paths are relative to the working folder, as a shell completes them. */
function buildInput(options: StartDevOptions): WorkerInput["build"] {
  const { bundle, define, alias, minify, tsconfig, jsxFactory, jsxFragment } = options;
  return {
    bundle,
    define,
    alias:
      alias &&
      Object.fromEntries(
        Object.entries(alias).map(([name, module]) => {
          return [name, module.startsWith(".") ? resolve(module) : module];
        }),
      ),
    minify,
    tsconfig: tsconfig && resolve(tsconfig),
    jsxFactory,
    jsxFragment,
  };
}

/** The exceptions that wrangler would get from the inspector. */
const exceptionsName = "LEDGE_EXCEPTIONS";
/** The invocations that the explorer shows. */
const activityName = "LEDGE_ACTIVITY";
const edgeName = "LEDGE_EDGE";
/** The script does not see these bindings (`plugin/tail-plugins.ts`, `plugin/edge-plugin.ts`). */
export const hiddenBindings: ReadonlySet<string> = new Set([
  exceptionsName,
  activityName,
  edgeName,
]);

function hiddenBinding(name: "exceptions" | "activity" | "edge", options: object = {}) {
  const dev = { plugin: { package: pluginPath, name }, options };
  return { type: `unsafe_${name}` as const, dev };
}

function ledgeBindings(
  config: ProjectConfig,
  { storeLatencyMilliseconds = 0 }: StartDevOptions,
  { hasDns, isObserved }: WorkerSurroundings,
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

type ScriptConfig = Pick<WranglerConfig, "main" | "assets" | "site" | "build">;

/**
 * Says in a sentence that a project has no script to run. wrangler's hint names options of its own.
 *
 * @param script the script of the command line
 * @throws UserError when there is neither a script nor a folder of assets
 * @throws NotFoundError when the file of the script does not exist
 */
export function requireScript(
  { path, folder }: Pick<ProjectConfig, "path" | "folder">,
  { main, assets, site, build }: ScriptConfig,
  script?: string,
): void {
  const file = script === undefined ? main : resolve(script);
  if (file === undefined) {
    if (assets !== undefined || site !== undefined) return;
    refuseViteProject(folder);
    throw new UserError(
      path === null
        ? `There is no script to run: ${folder} and the folders above have no wrangler.jsonc, ` +
            "wrangler.json or wrangler.toml. Name a script (ledge dev src/index.ts), or make a project " +
            "(ledge init)."
        : `${shownPath(path)} names no script: add main, such as "main": "src/index.ts", or name a script on the ` +
            'command line (ledge dev src/index.ts). For static files alone, add "assets": { "directory": ' +
            '"./dist" }.',
    );
  }
  // A build command of the project may write the file.
  if (existsSync(file) || build.command !== undefined) return;
  if (script === undefined) refuseViteProject(folder);
  const origin = script === undefined && path !== null ? `, the main of ${shownPath(path)}` : "";
  throw new NotFoundError(
    `There is no file ${shownPath(file)}${origin}. If a build writes the file, run the build first.`,
  );
}

/** @throws UserError if the script is a matter of Vite, which builds scripts by the Cloudflare plugin */
function refuseViteProject(folder: string): void {
  const names = ["ts", "js", "mts", "mjs", "cts", "cjs"].map((each) => `vite.config.${each}`);
  const name = names.find((each) => existsSync(join(folder, each)));
  if (name === undefined) return;
  const text = readFileSync(join(folder, name), "utf8");
  const [, used] = /["'](@cloudflare\/vite-plugin|ledge\/vite)["']/.exec(text) ?? [];
  if (used === undefined) return;
  throw new UserError(
    `This is a Vite project (${name}), whose script only Vite can build. Run "npx vite dev"` +
      (used === "ledge/vite"
        ? ", which uses the store: ledge/vite is among its plugins."
        : '. For the store, use ledge() of "ledge/vite" in place of cloudflare(), or run "ledge init".'),
  );
}

/**
 * wrangler's warnings about a configuration file, without warnings about the keys of Ledge.
 *
 * wrangler warns of every key that it does not know, and its only option is to warn of nothing. So
 * wrangler reads the file without warnings, and reads a copy without the keys of Ledge, for the
 * warnings alone.
 */
export function wranglerWarnings({ path, source, environment }: ProjectConfig): string[] {
  if (path === null) return [];
  const folder = mkdtempSync(join(tmpdir(), "ledge-"));
  const copy = join(folder, "wrangler.json");
  try {
    writeFileSync(copy, JSON.stringify(withoutLedgeKeys(source)));
    const options = { config: copy, env: environment };
    const warnings = collectWarnings(() => loadWrangler().unstable_readConfig(options));
    return warnings.map((text) =>
      text.replaceAll(relative(process.cwd(), copy), shownPath(path)).replaceAll(copy, path),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the warnings that `act`, a synchronous function, writes to the console. */
function collectWarnings(act: () => unknown): string[] {
  const warnings: string[] = [];
  const { warn } = console;
  console.warn = (...values: unknown[]) => void warnings.push(values.join(" ").trim());
  try {
    act();
  } catch {
    // wrangler throws the same error when it reads the original.
  } finally {
    console.warn = warn;
  }
  return warnings;
}

const addedVariables = new Set<string>();
let serverCount = 0;

/**
 * Sets the variables of the environment that are not set, for wrangler. They are gone when the last dev server of
 * the process has stopped: other programs that the process starts inherit them.
 *
 * @returns a function that a server calls when it has stopped, once or several times
 */
export function enterEnvironment(variables: Readonly<Record<string, string>>): () => void {
  serverCount++;
  for (const [name, value] of Object.entries(variables)) {
    if (process.env[name] !== undefined) continue;
    process.env[name] = value;
    addedVariables.add(name);
  }
  let isLeft = false;
  return () => {
    if (isLeft) return;
    isLeft = true;
    serverCount--;
    if (serverCount > 0) return;
    for (const name of addedVariables) delete process.env[name];
    addedVariables.clear();
  };
}
