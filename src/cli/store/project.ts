/** The folder and the buckets of a project's store. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { persistPath, pluginFolder, stateFolder } from "../../base/state-folder.ts";
import { readConfig, type ProjectConfig } from "../../config/read-config.ts";
import { parseBucketOptions } from "../../config/store-buckets.ts";
import type { Invocation } from "../command.ts";
import { configSelection, textOption } from "../options.ts";
import {
  bucketOfFolder,
  mergeBuckets,
  type ConfiguredBucket,
  type KnownBucket,
} from "./known-buckets.ts";

export interface StoreProject {
  /** Miniflare's persistence folder. */
  readonly persistPath: string;
  /** The folder of the store inside `persistPath`. */
  readonly folder: string;
  readonly buckets: readonly KnownBucket[];
}

export function findProject(invocation: Invocation): StoreProject {
  const config = readConfig(configSelection(invocation));
  const state = stateFolder(config.folder, textOption(invocation, "persist-to"));
  const folder = pluginFolder(state, "store");
  const configured = [...config.buckets, ...unsafeBuckets(config)];
  return {
    persistPath: persistPath(state),
    folder,
    buckets: mergeBuckets(configured, bucketsOnDisk(folder)),
  };
}

/** Buckets of a configuration for stock tools, which name buckets as `unsafe` bindings. */
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
