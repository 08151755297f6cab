/** What a project adds to the edge: the routes of its script, its public buckets, and `[edge]`. */
import { UserError } from "../base/user-error.ts";
import { routeProblem } from "../edge/config/edge-settings.ts";
import type { EdgeTable } from "../edge/core/destination.ts";
import type { PublicBucket } from "../edge/core/edge-table.ts";
import { asciiHost } from "../edge/core/route-pattern.ts";
import type { BucketBinding } from "../store/config/store-buckets.ts";
import type { ProjectConfig } from "./read-config.ts";

export interface ScriptInput {
  /** The name of the script. Default: that of the configuration. */
  readonly name?: string | undefined;
  /** Patterns in place of those of the configuration. */
  readonly routes?: readonly string[] | undefined;
}

/** @throws UserError for a pattern of `routes` that no request can match */
export function projectEdge(
  { table, routes: configured, buckets, edge }: ProjectConfig,
  { name = typeof table["name"] === "string" ? table["name"] : "", routes }: ScriptInput = {},
): EdgeTable {
  const given = routes?.map((pattern) => ({ pattern, isCustomDomain: false })) ?? configured;
  for (const problem of given.map(routeProblem)) {
    if (problem !== null) throw new UserError(`The route ${problem}.`);
  }
  return {
    routes: given.map((route) => ({ ...route, script: name })),
    buckets: publicBuckets(buckets),
    settings: edge,
  };
}

/** The buckets with names, by these names. Several bindings may name one bucket. */
function publicBuckets(bindings: readonly BucketBinding[]): PublicBucket[] {
  const hosts = new Map<string, Set<string>>();
  for (const { bucketName, previewBucketName, public: isPublic, domains = [] } of bindings) {
    const name = previewBucketName ?? bucketName;
    const development = isPublic === true ? asciiHost(`${name}.store.localhost`) : null;
    const own = [...(development === null ? [] : [development]), ...domains];
    if (own.length > 0) hosts.set(name, new Set([...(hosts.get(name) ?? []), ...own]));
  }
  return [...hosts].map(([bucketName, names]) => ({ bucketName, hosts: [...names] }));
}
