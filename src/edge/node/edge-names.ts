/** Which names lead to the dev servers of a state folder, whatever the path. */
import type { EdgeMember } from "../core/edge-table.ts";
import { asciiHost, isWithin, parseRoute } from "../core/route-pattern.ts";
import { readMembers } from "./members.ts";
import { readZoneView } from "./zone-view.ts";

/** @param name in lower case, without port and ".localhost" */
export async function isEdgeName(stateFolder: string, name: string): Promise<boolean> {
  return (
    isMemberName(readMembers(stateFolder), name) || (await readZoneView(stateFolder, name)) !== null
  );
}

/** Whether a route or a public bucket has the name. */
export function isMemberName(members: readonly EdgeMember[], name: string): boolean {
  return members.some(
    ({ routes, buckets }) =>
      buckets.some(({ hosts }) => hosts.includes(name)) ||
      routes.some((route) => {
        if (route.isCustomDomain) return asciiHost(route.pattern) === name;
        const parsed = parseRoute(route);
        if (typeof parsed === "string") return false;
        const { text, hasWildcard } = parsed.host;
        // A route for all hosts has those of its zone only: the rest of the internet stays where it is.
        if (text === "") return route.zoneName !== undefined && isWithin(name, route.zoneName);
        return hasWildcard ? name.endsWith(text) : name === text;
      }),
  );
}

/** The names that are known without a request: a hosts file can have these. */
export function fixedNames(members: readonly EdgeMember[]): string[] {
  const routes = members.flatMap((member) => member.routes);
  const hosts = routes.flatMap((route) => {
    const parsed = parseRoute(route);
    return typeof parsed === "string" || parsed.host.hasWildcard ? [] : [parsed.host.text];
  });
  const buckets = members.flatMap((member) => member.buckets.flatMap((bucket) => bucket.hosts));
  return [...new Set([...hosts, ...buckets])].filter((name) => !name.endsWith(".localhost"));
}
