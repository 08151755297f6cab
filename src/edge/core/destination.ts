/**
 * What a URL leads to, in this order: the most specific route, a custom domain, a public bucket, the origin of a
 * proxied record, and else a page that says what is missing.
 *
 * - A route needs no record: a name below `localhost` arrives without any.
 * - A route without a script excludes its URLs from the other routes. A custom domain is an origin, as on the
 *   platform, so it still answers there.
 * - A record leads to addresses of this machine, and elsewhere only by a rule of `[edge] origins`. A CNAME leads
 *   where its target leads: to the address records at its end if zones of this folder have the target, to this
 *   machine for `localhost`, and else to a name that a rule allows.
 */
import {
  addressKey,
  addressOctets,
  isLoopbackAddress,
  parseIpv4,
  parseIpv6,
} from "../../dns/record/ip-address.ts";
import type {
  EdgeRecord,
  EdgeSettings,
  OriginRule,
  PublicBucket,
  ScriptRoute,
  ZoneView,
} from "./edge-table.ts";
import {
  noAddressPage,
  farOriginPage,
  noRecordPage,
  noZonePage,
  notProxiedPage,
  type EdgePage,
} from "./pages.ts";
import {
  asciiHost,
  compareRoutes,
  matchesRoute,
  parseRoute,
  type EdgeUrl,
  type ParsedRoute,
} from "./route-pattern.ts";

export type { EdgeUrl } from "./route-pattern.ts";

export interface EdgeTable {
  readonly routes: readonly ScriptRoute[];
  readonly buckets: readonly PublicBucket[];
  readonly settings: EdgeSettings;
}

export type Destination =
  | { readonly to: "script"; readonly script: string; readonly route: ScriptRoute }
  | { readonly to: "bucket"; readonly bucketName: string; readonly host: string }
  /** One or more addresses to try, in this order. */
  | { readonly to: "origin"; readonly record: EdgeRecord; readonly origins: readonly Origin[] }
  | { readonly to: "page"; readonly page: EdgePage };

export interface Origin {
  /** An address, or a name that a rule allows. */
  readonly address: string;
  /** `null`: the port of the protocol. */
  readonly port: number | null;
  /** `null`: as the request. */
  readonly protocol: "http" | "https" | null;
}

/**
 * The name that a `Host` header asks for: without port, final dot and ".localhost", in lower case and punycode.
 *
 * The development name of a bucket (`photos.store.localhost`) stays whole: without its suffix it would be a name
 * of the top-level domain `store`.
 *
 * @returns `null` if the host is no name that could lead anywhere: an address, `localhost`, a single label below
 *   `localhost` (which leads to the script, as in wrangler), or malformed
 */
export function edgeHost(hostHeader: string, buckets: readonly PublicBucket[]): string | null {
  const name = asciiHost(hostHeader.replace(/:\d{1,5}$/, ""));
  if (name === null || name === "localhost") return null;
  const isDevelopmentName =
    name.endsWith(".localhost") && buckets.some(({ hosts }) => hosts.includes(name));
  if (isDevelopmentName || !name.endsWith(".localhost")) return name;
  const inner = name.slice(0, -".localhost".length);
  return inner.includes(".") ? inner : null;
}

/** What routes and buckets say; `null` if they say nothing: then the zone must be asked. */
export function routed(url: EdgeUrl, table: EdgeTable): Destination | null {
  const route = sortedRoutes(table.routes).find(({ parsed }) => matchesRoute(url, parsed))?.route;
  if (route !== undefined && route.script !== null)
    return { to: "script", script: route.script, route };
  return unrouted(url, table);
}

/** The same without the routes, as on the way from a script to its origin. */
export function unrouted(
  { host }: EdgeUrl,
  { routes, buckets }: EdgeTable,
  except: string | null = null,
): Destination | null {
  const domain = routes.find(
    ({ isCustomDomain, pattern, script }) =>
      isCustomDomain && script !== null && script !== except && asciiHost(pattern) === host,
  );
  if (domain !== undefined) return { to: "script", script: domain.script as string, route: domain };
  const bucket = buckets.find(({ hosts }) => hosts.includes(host));
  return bucket === undefined ? null : { to: "bucket", bucketName: bucket.bucketName, host };
}

/** @param zone what the zones of the folder have for the host; `null` if no zone has it */
export function destination(url: EdgeUrl, table: EdgeTable, zone: ZoneView | null): Destination {
  return routed(url, table) ?? recorded(url.host, table.settings, zone);
}

/** What the records at a name say. */
export function recorded(host: string, settings: EdgeSettings, zone: ZoneView | null): Destination {
  if (zone === null) return { to: "page", page: noZonePage(host) };
  const records = addressRecords(zone.records);
  const proxied = records.filter((record) => record.proxied);
  const [record] = proxied;
  if (record === undefined) {
    return {
      to: "page",
      page:
        records[0] === undefined
          ? noRecordPage(host, zone)
          : notProxiedPage(host, records[0], zone),
    };
  }
  const origins = originsOf(host, proxied, settings, zone);
  if (origins.length > 0) return { to: "origin", record, origins };
  const hasEnd = zone.targets?.length !== 0;
  return {
    to: "page",
    page: hasEnd ? farOriginPage(host, record) : noAddressPage(host, record),
  };
}

export function addressRecords(records: readonly EdgeRecord[]): EdgeRecord[] {
  return records.filter(({ type }) => type === "A" || type === "AAAA" || type === "CNAME");
}

/** The addresses that the records lead to, as far as they are allowed. */
export function originsOf(
  host: string,
  records: readonly EdgeRecord[],
  settings: EdgeSettings,
  zone: ZoneView,
): Origin[] {
  const ends = records.flatMap((record) =>
    record.type === "CNAME" ? (zone.targets ?? [record]) : [record],
  );
  const names = [host, ...records.map(({ name }) => name), ...ends.map(({ name }) => name)];
  return ends.flatMap(({ type, content }) => {
    const target = type === "CNAME" ? (asciiHost(content) ?? content) : content;
    const rule = findRule(settings.origins, names, target);
    const { port = null, protocol = null } = rule ?? {};
    const isLocalName = target === "localhost" || target.endsWith(".localhost");
    if (isLocalName) return ["127.0.0.1", "::1"].map((address) => ({ address, port, protocol }));
    return rule === undefined && !isLoopbackAddress(target)
      ? []
      : [{ address: target, port, protocol }];
  });
}

/** The most exact rule: for the name, then for the target, then for the smallest network that has the address. */
function findRule(
  rules: readonly OriginRule[],
  names: readonly string[],
  target: string,
): OriginRule | undefined {
  const forName = rules.find(({ host }) => names.includes(host));
  if (forName !== undefined) return forName;
  const key = addressKey(target);
  const exact = rules.find(({ host }) => addressKey(host) === key);
  if (exact !== undefined) return exact;
  const networks = rules.flatMap((rule) => {
    const network = parseNetwork(rule.host);
    return network !== null && isInNetwork(target, network) ? [{ rule, bits: network.bits }] : [];
  });
  return networks.toSorted((a, b) => b.bits - a.bits)[0]?.rule;
}

interface Network {
  readonly octets: Uint8Array;
  readonly bits: number;
}

/** `10.0.0.0/8`, `fd00::/8` */
export function parseNetwork(text: string): Network | null {
  const [, address = "", digits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const octets = parseIpv4(address) ?? parseIpv6(address);
  const bits = Number(digits);
  return octets === null || bits > octets.length * 8 ? null : { octets, bits };
}

function isInNetwork(address: string, { octets, bits }: Network): boolean {
  const own = addressOctets(address);
  if (own?.length !== octets.length) return false;
  return octets.every((octet, index) => {
    const free = Math.min(8, Math.max(0, 8 * (index + 1) - bits));
    return (octet ^ own[index]!) >> free === 0;
  });
}

interface Candidate {
  readonly route: ScriptRoute;
  readonly parsed: ParsedRoute;
}

/** A table changes seldom and is asked at each request. */
const sorted = new WeakMap<readonly ScriptRoute[], readonly Candidate[]>();

function sortedRoutes(routes: readonly ScriptRoute[]): readonly Candidate[] {
  const known = sorted.get(routes);
  if (known !== undefined) return known;
  const candidates = routes.flatMap((route) => {
    const parsed = route.isCustomDomain ? "" : parseRoute(route);
    return typeof parsed === "string" ? [] : [{ route, parsed }];
  });
  candidates.sort((a, b) => compareRoutes(a.parsed, b.parsed));
  sorted.set(routes, candidates);
  return candidates;
}
