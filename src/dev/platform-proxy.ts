/**
 * The bindings of a project in Node, for frameworks whose dev server runs there.
 *
 * This is wrangler's proxy with a configuration in which buckets and DNS are `unsafe` bindings.
 */
import type { GetPlatformProxyOptions, PlatformProxy } from "wrangler";
import { withTemporaryConfig } from "../config/temporary-config-file.ts";
import { readConfig, type ProjectConfig } from "../config/read-config.ts";
import {
  toWranglerTable,
  unsafeBindings,
  type UnsafeBindingEntry,
} from "../config/wrangler-config.ts";
import { loadWrangler } from "../base/runtime.ts";
import { persistPath, stateFolder } from "../base/state-folder.ts";

export interface PlatformProxyOptions {
  /** The path of the configuration file. Default: the nearest file. */
  configPath?: string;
  /** The NAME of a table `[env.NAME]`. */
  environment?: string;
  /** The folder in which the search for the configuration begins. Default: the working folder. */
  folder?: string;
  /**
   * The folder of the state. Default: `.wrangler/state/v3` beside the configuration file, which the
   * dev server uses too. `false` removes the state with `dispose()`.
   */
  persist?: boolean | { path: string };
  /** Files that replace `.env` and `.env.*`, relative to the configuration file. */
  envFiles?: string[];
  /** `false` leaves out bindings with `remote = true`. */
  remoteBindings?: boolean;
}

export async function getPlatformProxy<
  Env = Record<string, unknown>,
  CfProperties extends Record<string, unknown> = Record<string, unknown>,
>(options: PlatformProxyOptions = {}): Promise<PlatformProxy<Env, CfProperties>> {
  const config = readConfig(options);
  for (const warning of config.warnings) console.warn(warning);
  const { environment, persist = true, envFiles, remoteBindings } = options;
  const wranglerOptions: GetPlatformProxyOptions = {
    persist: persist === true ? { path: persistPath(stateFolder(config.folder)) } : persist,
    ...(environment !== undefined && { environment }),
    ...(envFiles !== undefined && { envFiles }),
    ...(remoteBindings !== undefined && { remoteBindings }),
  };
  const wrangler = loadWrangler();
  const table = toWranglerTable(config, compatibleBindings(config));
  const proxy = await withTemporaryConfig(config, table, (configPath) =>
    wrangler.getPlatformProxy<Env, CfProperties>({ ...wranglerOptions, configPath }),
  );

  let disposed: Promise<void> | undefined;
  return { ...proxy, dispose: () => (disposed ??= proxy.dispose()) };
}

/** The proxy runs no script, so the bindings need the date and the flags of the configuration. */
function compatibleBindings(config: ProjectConfig): UnsafeBindingEntry[] {
  const { compatibility_date, compatibility_flags } = config.table;
  return unsafeBindings(config).map((binding) => {
    if (binding.type !== "store_bucket") return binding;
    const { options, plugin } = binding.dev;
    return {
      ...binding,
      dev: { plugin, options: { ...options, compatibility_date, compatibility_flags } },
    };
  });
}
