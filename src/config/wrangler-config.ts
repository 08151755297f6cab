/**
 * The configuration as stock wrangler takes it: what is ours is said as `unsafe` bindings, which
 * name the plugin.
 *
 * An environment keeps its place below `env`, because wrangler looks for its secrets, and names
 * its script, by it: whoever hands the result to wrangler names the environment too. Others are
 * left out, for nobody asked for them. Paths are as they were written, and wrangler takes some of
 * them (and `.dev.vars`, and the state) from the file's own folder, so that is where it belongs.
 */
import { pluginPath } from "../base/runtime.ts";
import { isTable, type Table } from "./config-file.ts";
import type { BucketBinding, ProjectConfig } from "./read-config.ts";

/** A binding that one of our plugins serves, as wrangler's `unsafe.bindings` has it. */
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
  const { environment } = config;
  const { env: environments, ...common } = config.source;
  if (environment === undefined) return withBindings(common, bindings);
  const own = (environments as Readonly<Record<string, Table>>)[environment] as Table;
  return { ...withBindings(common, []), env: { [environment]: withBindings(own, bindings) } };
}

/** Of buckets and DNS, with the plugins' options. */
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

/** As the plugin reads them. A bucket for previews is the one to use locally. */
export function bucketOptions({ bucketName, previewBucketName, storageClass }: BucketBinding) {
  return {
    bucket_name: previewBucketName ?? bucketName,
    ...(storageClass !== undefined && { storage_class: storageClass }),
  };
}

function withBindings(table: Table, bindings: readonly UnsafeBindingEntry[]): Table {
  const { store_buckets: _buckets, dns: _dns, ...rest } = table;
  if (bindings.length === 0) return rest;
  const unsafe = isTable(rest["unsafe"]) ? rest["unsafe"] : {};
  const others: unknown[] = Array.isArray(unsafe["bindings"]) ? unsafe["bindings"] : [];
  return { ...rest, unsafe: { ...unsafe, bindings: [...others, ...bindings] } };
}
