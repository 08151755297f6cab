/**
 * `ledge/vite`: the Vite plugin of edge scripts, with the buckets and the DNS of the configuration file.
 *
 *     import { ledge } from "ledge/vite";
 *     import { defineConfig } from "vite";
 *
 *     export default defineConfig({ plugins: [ledge()] });
 *
 * The plugins are those of `cloudflare()`, with other files for its hook `config`
 * (`worker-configs.ts`). Beside the server of Vite run the explorer and the S3-compatible API
 * (`companions.ts`).
 */
import "../base/require-node.ts";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { PluginConfig } from "@cloudflare/vite-plugin";
import type * as Vite from "vite";
import { checkVersion, findPackage } from "../base/package-version.ts";
import { testedVersions } from "../base/tested-versions.ts";
import { UserError } from "../base/user-error.ts";
import { isOfVitest } from "../base/vitest-config.ts";
import { companionsPlugin } from "./companions.ts";
import { WorkerConfigs } from "./worker-configs.ts";

/** The options of `cloudflare()`, and those of Ledge. */
export interface LedgeOptions extends PluginConfig {
  /** `true`: the store also serves `r2_buckets`, so that a project of wrangler needs no edit. */
  adopt?: boolean;
  /** `false` serves no explorer. */
  explorer?: boolean;
  /** The port of the explorer, or the next free port. Default: 8790. */
  explorerPort?: number;
  /** `false` serves no S3-compatible API. */
  s3?: boolean;
  /** The port of the S3-compatible API. Default: `s3.port` of the configuration, or 8789. */
  s3Port?: number;
}

/**
 * Returns a promise, which Vite accepts among its plugins: the plugin that is wrapped belongs to the project,
 * and takes a moment to load.
 */
export function ledge(options: LedgeOptions = {}): Promise<Vite.Plugin[]> {
  // Vite shows the error of a hook. A rejected promise would end the process with a stack.
  return makePlugins(options).catch((error: unknown) => [
    {
      name: "ledge:vite",
      apply: isWithoutVitest,
      config: () => withoutStack(() => Promise.reject(error as Error)),
    },
  ]);
}

const packageName = "@cloudflare/vite-plugin";
const mainName = "vite-plugin-cloudflare";

async function makePlugins(options: LedgeOptions): Promise<Vite.Plugin[]> {
  const { adopt, explorer, explorerPort, s3, s3Port, ...given } = options;
  const [{ loadEnv }, cloudflare] = await Promise.all([import("vite"), findCloudflare()]);
  const configs = new WorkerConfigs(given, { adopt, loadEnv });
  const plugins = cloudflare(configs.options);
  const main = plugins.find(({ name }) => name === mainName);
  if (main === undefined) throw otherVersion(`plugin "${mainName}"`);
  const hook = main.config;
  main.config = async function (viteConfig, environment) {
    const call = (config: Vite.UserConfig) =>
      (typeof hook === "object" ? hook.handler : hook)?.call(this, config, environment);
    const result = await withoutStack(() => configs.resolve(viteConfig, environment, call));
    return result ?? null;
  };
  const companions = companionsPlugin(configs, { adopt, explorer, explorerPort, s3, s3Port });
  const all = [...plugins, companions];
  for (const plugin of all) plugin.apply = isWithoutVitest;
  return all;
}

/** The pool of vitest runs the script itself, and the plugins would be in its way. */
function isWithoutVitest(config: Vite.UserConfig): boolean {
  return !isOfVitest(config);
}

type MakePlugins = (options: PluginConfig) => Vite.Plugin[];

/**
 * `cloudflare()` of the project. The root of the project is not known yet: in most cases Vite was started there,
 * and else the package is beside this package.
 *
 * @throws UserError when the package is missing or too old
 */
async function findCloudflare(): Promise<MakePlugins> {
  const places = [process.cwd(), fileURLToPath(new URL(".", import.meta.url))];
  for (const folder of places) {
    const found = findPackage(folder, packageName);
    if (found === null) continue;
    checkVersion(packageName, found.version, folder);
    const { cloudflare } = (await import(pathToFileURL(found.entry).href)) as {
      cloudflare?: MakePlugins;
    };
    if (cloudflare === undefined) throw otherVersion("cloudflare()");
    return cloudflare;
  }
  throw new UserError(
    `ledge/vite needs ${packageName}, and ${places[0]} has none. Install it: ` +
      `npm install --save-dev ${packageName}`,
  );
}

function otherVersion(missing: string): UserError {
  const [, newest] = testedVersions[packageName];
  return new UserError(
    `This version of ${packageName} has no ${missing}, which ledge/vite uses. Install ` +
      `${packageName}@${newest}, with which Ledge was tested, or a newer version of ledge.`,
  );
}

/** Vite prints the stack of an error, which says nothing to a person who made a mistake in a file. */
async function withoutStack<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof UserError) error.stack = error.message;
    throw error;
  }
}
