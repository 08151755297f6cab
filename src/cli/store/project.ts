/** Where the store of a project is, and which buckets it has. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { persistPath, pluginFolder, stateFolder } from "../../base/state-folder.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import { parseBucketOptions } from "../../config/bucket-options.ts";
import type { OptionValues } from "../command.ts";
import {
  bucketOfFolder,
  findBucket,
  mergeBuckets,
  type ConfiguredBucket,
  type KnownBucket,
} from "./known-buckets.ts";

export interface StoreProject {
  /** What Miniflare is given to persist in. */
  readonly persistPath: string;
  /** The store's own folder below it. */
  readonly folder: string;
  readonly buckets: readonly KnownBucket[];
}

export function findProject(options: OptionValues): StoreProject {
  const { config: configPath, env: environment, "persist-to": persistTo } = options;
  const config = readConfig({
    ...(typeof configPath === "string" && { configPath }),
    ...(typeof environment === "string" && { environment }),
  });
  // As wrangler: a path that is given starts at the working folder, the usual one at the file's.
  const state = stateFolder(config.folder, typeof persistTo === "string" ? persistTo : undefined);
  const folder = pluginFolder(state, "store");
  const configured = [...config.buckets, ...unsafeBuckets(config)];
  return {
    persistPath: persistPath(state),
    folder,
    buckets: mergeBuckets(configured, bucketsOnDisk(folder)),
  };
}

export function bucketOf({ buckets }: StoreProject, word: string): KnownBucket {
  return findBucket(buckets, word);
}

/** Buckets of a configuration that is made for stock tools. */
function unsafeBuckets({ table }: ProjectConfig): ConfiguredBucket[] {
  const { bindings = [] } = (table["unsafe"] ?? {}) as {
    bindings?: { name: string; type: string; dev?: { options?: unknown } }[];
  };
  return bindings
    .filter(({ type }) => type === "store_bucket")
    .map(({ name, dev }) => ({ binding: name, ...parseBucketOptions(name, dev?.options) }));
}

function bucketsOnDisk(folder: string): string[] {
  try {
    return readdirSync(join(folder, "blobs")).map(bucketOfFolder);
  } catch {
    return [];
  }
}
