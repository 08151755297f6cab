/**
 * `ledge/vitest`: tests in the vitest pool, with the buckets and the DNS of the configuration file.
 *
 *     import { ledge } from "ledge/vitest";
 *     import { defineConfig } from "vitest/config";
 *
 *     export default defineConfig({ plugins: [ledge()] });
 */
import "../base/require-node.ts";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { writeTemporaryConfig } from "../config/temporary-config-file.ts";
import { readConfig, type ProjectConfig } from "../config/read-config.ts";
import { bucketOptions, toWranglerTable } from "../config/wrangler-config.ts";
import { hasRpc } from "../config/compatibility.ts";
import { pluginPath } from "../base/runtime.ts";
import { UserError } from "../base/user-error.ts";
import { controlBinding, dnsBinding } from "../testing/controls.ts";
import { findPool } from "./find-pool.ts";
import { ReusedRuntimes } from "./reused-runtimes.ts";
import { optionsKey } from "./runner-options.ts";

/** The options of the pool: `main`, `miniflare`, `wrangler`, and others. */
export interface PoolOptions {
  miniflare?: Record<string, unknown>;
  wrangler?: { configPath?: string; environment?: string };
  [option: string]: unknown;
}

export interface LedgeOptions extends PoolOptions {
  /** The configuration file. Default: the nearest file in or above the project's folder. */
  configPath?: string;
  environment?: string;
  /** `false`: tests see the writes of other tests. */
  isolate?: boolean;
}

const runnerPath = fileURLToPath(new URL("./vitest-runner.js", import.meta.url));

/**
 * The plugin of the pool, with the bindings of the configuration file, and with isolation of every
 * test. All other options are passed on to the pool.
 */
export async function ledge(options: LedgeOptions = {}): Promise<Plugin[]> {
  const { configPath, environment, isolate = true, ...poolOptions } = options;
  const folder = process.cwd();
  const path = configPath ?? poolOptions.wrangler?.configPath;
  const environmentName = environment ?? poolOptions.wrangler?.environment;
  const config = readConfig({
    folder,
    ...(path !== undefined && { configPath: path }),
    ...(environmentName !== undefined && { environment: environmentName }),
  });
  for (const warning of config.warnings) console.warn(warning);
  if (
    config.path === null &&
    poolOptions["main"] === undefined &&
    poolOptions.miniflare === undefined
  ) {
    throw new UserError(
      `There is no wrangler.toml, wrangler.json or wrangler.jsonc in ${folder} or above it. ` +
        "Add one, name one with configPath, or give the pool's options main and miniflare.",
    );
  }
  const pool = await findPool(folder);
  const derived =
    config.path === null ? null : writeTemporaryConfig(config.folder, toWranglerTable(config, []));
  process.once("exit", () => derived?.remove());
  const runtimes = new ReusedRuntimes(pool);
  return [
    pool.plugin(withBindings(config, poolOptions, derived?.path)),
    {
      name: "ledge:vitest",
      enforce: "post",
      configureVitest({ vitest, project }) {
        if (project.config.runner !== undefined && isolate) {
          throw new UserError(
            `The project sets a test runner (${project.config.runner}), but isolation needs the ` +
              "runner of ledge. Remove the runner, or turn isolation off: ledge({ isolate: false }).",
          );
        }
        const reusesRuntime = vitest.config.watch;
        if (isolate) project.config.runner = runnerPath;
        project.provide(optionsKey, { isolate, reusesRuntime });
        if (reusesRuntime && isolate && project.config.poolRunner !== undefined) {
          project.config.poolRunner = runtimes.wrap(project.config.poolRunner);
        }
        vitest.onClose(async () => {
          derived?.remove();
          await runtimes.dispose();
        });
      },
    },
  ];
}

/** Adds the bindings of the configuration file, and the controls of the store and the DNS. */
function withBindings(
  config: ProjectConfig,
  { miniflare = {}, ...options }: PoolOptions,
  configPath: string | undefined,
): PoolOptions {
  const store = { package: pluginPath, name: "store" };
  const dns = { package: pluginPath, name: "dns" };
  const dnsTable = config.dns.table;
  const bindings = [
    ...config.buckets.map((bucket) => ({
      name: bucket.binding,
      type: "store_bucket",
      plugin: store,
      options: bucketOptions(bucket),
    })),
    {
      name: controlBinding,
      type: "store_control",
      plugin: store,
      options: { project_folder: resolve(config.folder) },
    },
    ...[dnsBinding, ...(config.dns.binding === undefined ? [] : [config.dns.binding])].map(
      (name) => ({ name, type: "dns", plugin: dns, options: dnsTable }),
    ),
  ];
  const given = (miniflare["unsafeBindings"] ?? []) as unknown[];
  return {
    ...options,
    ...(configPath !== undefined && {
      wrangler: {
        ...options.wrangler,
        configPath,
        ...(config.environment !== undefined && { environment: config.environment }),
      },
    }),
    miniflare: {
      ...miniflare,
      ...rpcFlag(config, miniflare),
      unsafeBindings: [...given, ...bindings],
    },
  };
}

/** Tests call the controls by RPC, which scripts with an old compatibility date do not have. */
function rpcFlag(
  { table }: ProjectConfig,
  miniflare: Record<string, unknown>,
): { compatibilityFlags?: string[] } {
  const date = (miniflare["compatibilityDate"] ?? table["compatibility_date"]) as
    | string
    | undefined;
  const own = (miniflare["compatibilityFlags"] ?? []) as string[];
  const flags = [...own, ...((table["compatibility_flags"] ?? []) as string[])];
  if (date === undefined || hasRpc(date, flags)) return {};
  return { compatibilityFlags: [...own, "rpc"] };
}
