/** `ledge`: the dev server, bindings for Miniflare with their types, and DNS on its own. */
import { pluginPath } from "./base/plugin-path.ts";

export {
  readConfig,
  type BucketBinding,
  type ProjectConfig,
  type ProjectDns,
  type ReadConfigOptions,
} from "./config/read-config.ts";
export { startDev, type RunningDev } from "./dev/dev-server.ts";
export type { StartDevOptions } from "./dev/options.ts";
export { getPlatformProxy, type PlatformProxyOptions } from "./dev/platform-proxy.ts";
export { startDns, type RunningDns, type StartDnsOptions } from "./dns/server/start-dns.ts";
export { testBindings, testControl, type TestControl } from "./testing/node.ts";
export { callMatchers, type CallMatchers } from "./testing/matchers.ts";
export type * from "./types/store.ts";

/** What `[[store_buckets]]` says of a bucket. */
export interface StoreBucketOptions {
  bucket_name: string;
  /** The class of objects that name none. */
  storage_class?: "Standard" | "InfrequentAccess";
}

/** An entry of Miniflare's `env` that this package's plugin serves. */
export interface StoreBindingEntry {
  type: "unsafe:store_bucket";
  dev: { plugin: { package: string; name: "store" }; options: StoreBucketOptions };
}

/**
 * Entries for the `env` of a Miniflare worker: a bucket for each binding.
 *
 * @example
 * env: storeBindings({ PHOTOS: { bucket_name: "photos" } })
 */
export function storeBindings(
  buckets: Record<string, StoreBucketOptions>,
): Record<string, StoreBindingEntry> {
  const plugin = { package: pluginPath, name: "store" as const };
  return Object.fromEntries(
    Object.entries(buckets).map(([binding, options]) => [
      binding,
      { type: "unsafe:store_bucket" as const, dev: { plugin, options } },
    ]),
  );
}
