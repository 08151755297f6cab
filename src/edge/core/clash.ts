/** What two scripts or two buckets of an edge both claim. */
import type { EdgeTable } from "./destination.ts";
import type { ScriptRoute } from "./edge-table.ts";
import { asciiHost, parseRoute } from "./route-pattern.ts";

/** @returns a message; `null` without a clash. A script that runs twice does not clash with itself. */
export function findClash({
  routes,
  buckets,
}: Pick<EdgeTable, "routes" | "buckets">): string | null {
  const claims = [
    ...routes.map((route) => ({
      key: routeKey(route),
      what: route.isCustomDomain
        ? `the custom domain ${route.pattern}`
        : `the route ${route.pattern}`,
      owner: route.script === null ? "no script" : `the script "${route.script}"`,
    })),
    ...buckets.flatMap(({ bucketName, hosts }) =>
      hosts.map((host) => ({
        key: host,
        what: `the domain ${host}`,
        owner: `the bucket "${bucketName}"`,
      })),
    ),
  ];
  const first = new Map<string, string>();
  for (const { key, what, owner } of claims) {
    const known = first.get(key) ?? owner;
    first.set(key, known);
    if (known !== owner) {
      return `Two have ${what}: ${known} and ${owner}. Remove it from one of their configurations.`;
    }
  }
  return null;
}

/** Equal for patterns that have the same URLs. Custom domains and the domains of buckets are hosts. */
function routeKey(route: ScriptRoute): string {
  if (route.isCustomDomain) return asciiHost(route.pattern) ?? route.pattern;
  const parsed = parseRoute(route);
  return JSON.stringify(typeof parsed === "string" ? route.pattern : { ...parsed, zoneName: null });
}
