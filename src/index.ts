/** `ledge`, the Node API: the dev server, DNS, bindings for Miniflare, and controls for tests. */
import "./base/require-node.ts";
import { pluginPath } from "./base/runtime.ts";
import { readConfig } from "./config/read-config.ts";
import { startProjectDns, type RunningDns, type StartDnsOptions } from "./dns/server/start-dns.ts";

export { readConfig, type ProjectConfig, type ReadConfigOptions } from "./config/read-config.ts";
export type { BucketBinding } from "./store/config/store-buckets.ts";
export type { ProjectDns } from "./dns/config/dns-table.ts";
export type { ProjectRemote } from "./store/config/remotes.ts";
export type { ProjectS3 } from "./s3/s3-table.ts";
export { type RunningDev } from "./dev/dev-server.ts";
export { startDev } from "./dev/start-dev.ts";
export type { StartDevOptions } from "./dev/dev-options.ts";
export { getPlatformProxy, type PlatformProxyOptions } from "./dev/platform-proxy.ts";
export type { RunningDns, StartDnsOptions } from "./dns/server/start-dns.ts";
export {
  startExplorer,
  type ExplorerBucketOptions,
  type RunningExplorer,
  type StartExplorerOptions,
} from "./explorer/server/start-explorer.ts";
export { startS3, type RunningS3, type StartS3Options } from "./s3/server.ts";
export type { S3BucketOptions } from "./s3/s3-message.ts";
export {
  testBindings,
  testControl,
  type DevTestControl,
  type TestControl,
} from "./testing/node.ts";
export { callMatchers, type CallMatchers } from "./testing/matchers.ts";
export { queryMatchers, type QueryMatchers } from "./testing/matchers.ts";
export type * from "./types/store.ts";

/**
 * DNS as the configuration file says: the record API on a port, and the listeners.
 *
 * @throws UserError when another process owns the zones until its end
 */
export async function startDns(options: StartDnsOptions = {}): Promise<RunningDns> {
  return startProjectDns(readConfig({ ...options, keysOptional: true }), options);
}

/** The options of a bucket, as in `[[store_buckets]]`. */
export interface StoreBucketOptions {
  bucket_name: string;
  /** The storage class of objects that are stored without one. */
  storage_class?: "Standard" | "InfrequentAccess";
  /** Verifies the files of an object by their hashes before the first byte of a read. */
  verify_reads?: boolean;
  /** What a write that is acknowledged survives: the loss of power, or the end of every process only. */
  durability?: "power" | "process";
  /** Lists delimited prefixes as `foo/`, with the delimiter. */
  list_trailing_delimiter?: boolean;
  /** Lets requests without a signature read objects by the S3-compatible API. */
  public?: boolean;
  /** `aws`: the S3-compatible API accepts conditions of UploadPartCopy, and answers that objects have no tags. */
  s3_compatibility?: "aws";
  /** The S3 service that has the bucket. Without it, the bucket is in the state folder. */
  remote?: StoreRemoteOptions;
}

/** An S3 service, as in `[remotes.NAME]`. */
export interface StoreRemoteOptions {
  /** For messages, and for the names of variables with keys: `LEDGE_REMOTE_NAME_ACCESS_KEY_ID`. */
  name: string;
  /** The URL of the service, without a path. */
  endpoint: string;
  /** Default: `us-east-1`. */
  region?: string;
  /** The keys. Variables of the environment have precedence. */
  access_key_id?: string;
  secret_access_key?: string;
  session_token?: string;
  /** Begins each key of the service's bucket. */
  prefix?: string;
  /** What the service may lack. */
  accept?: ("conditional-put" | "conditional-complete" | "conditional-delete")[];
}

/** An entry of Miniflare's `env` that this package's plugin serves. */
export interface StoreBindingEntry {
  type: "unsafe:store_bucket";
  dev: { plugin: { package: string; name: "store" }; options: StoreBucketOptions };
}

/**
 * Entries for the `env` of a Miniflare worker: one bucket for each binding.
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
