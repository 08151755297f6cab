/** The buckets of a project, with the bindings that lead to them. */
import type { ProjectConfig } from "../../config/read-config.ts";

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
