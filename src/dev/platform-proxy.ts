/**
 * The bindings of a project in Node, for frameworks whose dev server runs there.
 *
 * This is wrangler's proxy with a configuration in which buckets and DNS are `unsafe` bindings.
 */
import type { GetPlatformProxyOptions, PlatformProxy } from "wrangler";
import { loadWrangler } from "../base/wrangler.ts";
import {
  newsOf,
  readConfig,
  type ProjectConfig,
  type ReadConfigOptions,
} from "../config/read-config.ts";
import {
  withTemporaryConfig,
  toWranglerTable,
  unsafeBindings,
  type UnsafeBindingEntry,
} from "../config/wrangler-config.ts";
import { persistPath, requireWritableFolder, stateFolder } from "../state/folder.ts";

export interface PlatformProxyOptions extends Omit<ReadConfigOptions, "envFiles"> {
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
  const { envFiles: _envFiles, ...selection } = options;
  const config = readConfig(selection);
  for (const warning of newsOf(config)) console.warn(warning);
  const { folder: _folder, adopt: _adopt, persist: given = true, ...rest } = options;
  const persist = given === true ? { path: persistPath(stateFolder(config.folder)) } : given;
  if (typeof persist === "object") requireWritableFolder(persist.path);
  const proxy = await openProxy<Env, CfProperties>(config, { ...rest, persist });

  let disposed: Promise<void> | undefined;
  return { ...proxy, dispose: () => (disposed ??= proxy.dispose()) };
}

/** wrangler's proxy, with the bindings of a configuration. */
export function openProxy<
  Env,
  CfProperties extends Record<string, unknown> = Record<string, unknown>,
>(
  config: ProjectConfig,
  options: Omit<GetPlatformProxyOptions, "configPath">,
): Promise<PlatformProxy<Env, CfProperties>> {
  const table = toWranglerTable(config, compatibleBindings(config));
  return withTemporaryConfig(config, table, (configPath) =>
    loadWrangler().getPlatformProxy<Env, CfProperties>({ ...options, configPath }),
  );
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
