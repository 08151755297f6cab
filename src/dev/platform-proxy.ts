/**
 * The bindings of a project in Node, for frameworks whose own dev server runs there.
 *
 * It is wrangler's proxy with a configuration that says our bindings as wrangler knows them, so
 * that everything else is as wrangler has it.
 */
import type { GetPlatformProxyOptions, PlatformProxy } from "wrangler";
import { withDerivedFile } from "../config/derived-file.ts";
import { readConfig, type ProjectConfig } from "../config/read-config.ts";
import {
  toWranglerTable,
  unsafeBindings,
  type UnsafeBindingEntry,
} from "../config/wrangler-config.ts";
import { loadWrangler } from "../base/runtime.ts";
import { persistPath, stateFolder } from "../base/state-folder.ts";

export interface PlatformProxyOptions {
  /** The configuration file; the nearest one without it. */
  configPath?: string;
  /** A table of `[env.NAME]`. */
  environment?: string;
  /** Where to look for the configuration; the working folder without it. */
  folder?: string;
  /**
   * Where state is kept; `.wrangler/state/v3` beside the configuration file without it, which is
   * where the dev server keeps it too. `false` keeps it until `dispose()`.
   */
  persist?: boolean | { path: string };
  /** Instead of `.env` and its kin, relative to the configuration file. */
  envFiles?: string[];
  /** `false` leaves out bindings that are marked `remote`. */
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
  const proxy = await withDerivedFile(config, table, (configPath) =>
    wrangler.getPlatformProxy<Env, CfProperties>({ ...wranglerOptions, configPath }),
  );

  let disposed: Promise<void> | undefined;
  return { ...proxy, dispose: () => (disposed ??= proxy.dispose()) };
}

/** There is no script here, and so its date and flags have to come with the binding. */
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
