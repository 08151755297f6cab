/**
 * The configuration for stock wrangler: buckets and DNS become `unsafe` bindings, which name the
 * plugin.
 *
 * The environment stays below `env`, because wrangler derives the secrets and the name of the
 * script from the environment: a caller gives wrangler the name of the environment too. Other
 * environments are left out. Paths stay as they were written, so the result belongs into the folder
 * of the original file: wrangler resolves paths, `.dev.vars` and the state from there.
 */
import { pluginPath } from "../base/runtime.ts";
import { withoutServedBuckets } from "./deployed-buckets.ts";
import type { BucketBinding, ProjectConfig } from "./read-config.ts";
import { remoteOption } from "./remotes.ts";
import { isTable, type Table } from "../base/schema.ts";

/** An entry of wrangler's `unsafe.bindings` that a plugin of Ledge serves. */
export interface UnsafeBindingEntry {
  readonly name: string;
  readonly type: "store_bucket" | "dns";
  readonly dev: {
    readonly plugin: { readonly package: string; readonly name: "store" | "dns" };
    readonly options: Table;
  };
}

export function toWranglerTable(
  config: ProjectConfig,
  bindings: readonly UnsafeBindingEntry[] = unsafeBindings(config),
): Table {
  const { environment, buckets } = config;
  const withOurs = (table: Table): Table =>
    withBindings(withoutServedBuckets(table, buckets), bindings);
  const { env: environments, ...common } = config.source;
  if (environment === undefined) return withOurs(common);
  const own = (environments as Readonly<Record<string, Table>>)[environment] as Table;
  return { ...withBindings(common, []), env: { [environment]: withOurs(own) } };
}

/** The bindings of buckets and DNS, with the options of the plugin. */
export function unsafeBindings({ buckets, dns }: ProjectConfig): UnsafeBindingEntry[] {
  const entries: UnsafeBindingEntry[] = buckets.map((bucket) => ({
    name: bucket.binding,
    type: "store_bucket",
    dev: { plugin: { package: pluginPath, name: "store" }, options: bucketOptions(bucket) },
  }));
  if (dns.binding === undefined) return entries;
  const plugin = { package: pluginPath, name: "dns" } as const;
  return [...entries, { name: dns.binding, type: "dns", dev: { plugin, options: dns.table } }];
}

/** The options of the plugin (`parseBucketOptions`). The preview bucket is the local bucket. */
export function bucketOptions(bucket: BucketBinding) {
  const { bucketName, previewBucketName, storageClass, verifyReads, listTrailingDelimiter } =
    bucket;
  const { public: isPublic, remote } = bucket;
  return {
    bucket_name: previewBucketName ?? bucketName,
    ...(storageClass !== undefined && { storage_class: storageClass }),
    ...(verifyReads !== undefined && { verify_reads: verifyReads }),
    ...(listTrailingDelimiter !== undefined && { list_trailing_delimiter: listTrailingDelimiter }),
    ...(isPublic !== undefined && { public: isPublic }),
    ...(remote !== undefined && { remote: remoteOption(remote) }),
  };
}

function withBindings(table: Table, bindings: readonly UnsafeBindingEntry[]): Table {
  const { store_buckets: _buckets, remotes: _remotes, dns: _dns, s3: _s3, ...rest } = table;
  if (bindings.length === 0) return rest;
  const unsafe = isTable(rest["unsafe"]) ? rest["unsafe"] : {};
  const others: unknown[] = Array.isArray(unsafe["bindings"]) ? unsafe["bindings"] : [];
  return { ...rest, unsafe: { ...unsafe, bindings: [...others, ...bindings] } };
}
