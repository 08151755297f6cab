/**
 * Where `fetch()` of a script leads. The rule of the platform: within the zone of the script no route is followed,
 * so a script in front of an origin reaches the origin, and not itself or another script. Custom domains are
 * origins: they run their script there too, but not the script that asks. In other zones, and with the
 * compatibility flag `global_fetch_strictly_public` everywhere, a request is as that of a client.
 *
 * A name that is not proxied leads to its address, without the edge. Where no rule allows the address, and where no
 * zone of this folder has the name, the internet is asked as ever.
 */
import {
  addressRecords,
  originsOf,
  recorded,
  routed,
  unrouted,
  type Destination,
  type EdgeTable,
} from "./destination.ts";
import type { ScriptRoute, ZoneView } from "./edge-table.ts";
import { ownDomainPage } from "./pages.ts";
import { asciiHost, isWithin, type EdgeUrl } from "./route-pattern.ts";

export interface OutboundCaller {
  readonly script: string;
  /** Whether the script has `global_fetch_strictly_public`. */
  readonly isPublicFetch: boolean;
}

/**
 * @param zone what the zones of the folder have for the host; `null` if no zone has it
 * @returns `null`: the internet
 */
export function outbound(
  url: EdgeUrl,
  from: OutboundCaller,
  table: EdgeTable,
  zone: ZoneView | null,
): Destination | null {
  const isOwnZone = !from.isPublicFetch && isInOwnZone(url.host, from.script, table.routes, zone);
  const first = isOwnZone ? unrouted(url, table, from.script) : routed(url, table);
  if (first !== null || zone === null) return first;
  const [record, ...others] = addressRecords(zone.records);
  if (record !== undefined && !record.proxied) {
    const origins = originsOf(url.host, [record, ...others], table.settings, zone);
    return origins.length === 0 ? null : { to: "origin", record, origins };
  }
  const last = recorded(url.host, table.settings, zone);
  const isOwnDomain = table.routes.some(
    ({ isCustomDomain, script, pattern }) =>
      isCustomDomain && script === from.script && asciiHost(pattern) === url.host,
  );
  return last.to === "page" && isOwnDomain ? { to: "page", page: ownDomainPage(url.host) } : last;
}

/**
 * The zone of a script is the zone of its routes. Deviation: on the platform the zone is that of the request that
 * the script answers, which differs for a script with routes in several zones.
 */
function isInOwnZone(
  host: string,
  script: string,
  routes: readonly ScriptRoute[],
  zone: ZoneView | null,
): boolean {
  const own = routes.filter((route) => route.script === script);
  if (zone !== null) return own.some((route) => isWithin(routeHost(route), zone.zoneName));
  return own.some((route) => isWithin(host, route.zoneName ?? registrable(routeHost(route))));
}

function routeHost({ pattern }: ScriptRoute): string {
  const [host = ""] = pattern.replace(/^[a-z]+:\/\//i, "").split("/");
  return asciiHost(host.replace(/^\*?\.?/, "")) ?? "";
}

/** The zone of a name that no zone of this folder has, and that has no `zone_name`: the last two labels. */
function registrable(host: string): string {
  return host.split(".").slice(-2).join(".");
}
