/** What a seed can fill: the buckets, databases and namespaces that the bindings of scripts name. */
import { unknownWord } from "../base/nearest.ts";
import { isTable, type Table } from "../base/schema.ts";
import type { ProjectConfig } from "../config/read-config.ts";

/** As the folders of a seed. */
export type ResourceKind = "buckets" | "d1" | "kv";

export interface BoundResource {
  readonly kind: ResourceKind;
  readonly binding: string;
  /** Names of the resource besides the binding, and its ids. */
  readonly names: readonly string[];
  readonly config: ProjectConfig;
  /** Its entry in the list of wrangler; of a bucket of the store, an entry with the name. */
  readonly entry: Table;
  /** The S3 service that has the bucket, and not the state folder. */
  readonly remote: string | null;
}

const wranglerLists = [
  { kind: "buckets", key: "r2_buckets", fields: ["bucket_name", "preview_bucket_name"] },
  {
    kind: "d1",
    key: "d1_databases",
    fields: ["database_name", "database_id", "preview_database_id"],
  },
  { kind: "kv", key: "kv_namespaces", fields: ["id", "preview_id"] },
] as const;

/** @param configs of the script that has the address, then of the scripts beside it */
export function boundResources(configs: readonly ProjectConfig[]): BoundResource[] {
  return configs.flatMap((config) => {
    const ours = config.buckets.map(({ binding, bucketName, previewBucketName, remote }) => ({
      kind: "buckets" as const,
      binding,
      names: [previewBucketName ?? bucketName, bucketName],
      config,
      entry: {},
      remote: remote?.name ?? null,
    }));
    const served = new Set(ours.map(({ binding }) => binding));
    const others = wranglerLists.flatMap(({ kind, key, fields }) => {
      const list: unknown = config.table[key];
      const entries = (Array.isArray(list) ? list : []).filter(isTable);
      return entries.flatMap((entry) => {
        const { binding } = entry;
        if (typeof binding !== "string" || (kind === "buckets" && served.has(binding))) return [];
        const names = fields
          .map((field) => entry[field])
          .filter((name) => typeof name === "string");
        return { kind, binding, names, config, entry, remote: null };
      });
    });
    return [...ours, ...others];
  });
}

/** @returns the resource, or why there is none */
export function findResource(
  resources: readonly BoundResource[],
  kind: ResourceKind,
  name: string,
): BoundResource | string {
  const known = resources.filter((resource) => resource.kind === kind);
  const found =
    known.find(({ binding }) => binding === name) ??
    known.find(({ names }) => names.includes(name));
  if (found?.remote != null) {
    return `The bucket is on the S3 service "${found.remote}", and a seed fills the state folder. Remove it from the seed.`;
  }
  const words = { buckets: "bucket", d1: "D1 database", kv: "KV namespace" };
  if (known.length === 0) return `The configuration file binds no ${words[kind]}.`;
  const names = known.flatMap((each) => [...each.names, each.binding]);
  return found ?? unknownWord(words[kind], name, [...new Set(names)]);
}
