/** The buckets of a project, with the bindings that lead to them. */
import type { ProjectConfig } from "../../config/read-config.ts";
import type { ExplorerBucketOptions } from "./start-explorer.ts";

/** For `startExplorer`. */
export function explorerBuckets({
  buckets,
}: Pick<ProjectConfig, "buckets">): ExplorerBucketOptions[] {
  return buckets.map(({ bucketName, previewBucketName, remote }) => ({
    name: previewBucketName ?? bucketName,
    ...(remote !== undefined && { remote }),
  }));
}

export function usedBuckets({
  buckets,
}: Pick<ProjectConfig, "buckets">): ReadonlyMap<string, readonly string[]> {
  const bindings = new Map<string, string[]>();
  for (const { binding, bucketName, previewBucketName } of buckets) {
    const name = previewBucketName ?? bucketName;
    bindings.set(name, [...(bindings.get(name) ?? []), binding]);
  }
  return bindings;
}
