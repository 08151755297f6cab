/**
 * Patterns of routes, as the deployed platform documents them:
 *
 * - `[http://|https://]HOST[/PATH]`. Without a scheme a pattern has both, and without a path it has `/`.
 * - The only operator is `*`, for any characters: first in the host, last in the path. So `*example.com/*` also
 *   has `myexample.com` (unless `zone_name` says otherwise), and `*.example.com/*` has all names below `example.com`, and not `example.com` itself.
 * - A pattern has no query, but the path of a URL is compared with its query: `example.com/a` has not `/a?b`.
 * - Hosts are compared in lower case and punycode, paths as they are.
 * - The most specific pattern wins (`compareRoutes()`).
 */
import { hostName } from "../../base/host-rule.ts";
import { parseIpv4 } from "../../dns/record/ip-address.ts";
import { isDnsName, toAsciiName } from "../../dns/record/record-name.ts";
import type { RoutePattern } from "./edge-table.ts";

/** A URL of a request. */
export interface EdgeUrl {
  readonly protocol: "http:" | "https:";
  /** Without a port, as `edgeHost()` gives it. */
  readonly host: string;
  /** With the query: `/a?b=c`. */
  readonly path: string;
}

interface Part {
  readonly text: string;
  readonly hasWildcard: boolean;
}

export interface ParsedRoute {
  /** `null`: both. */
  readonly protocol: EdgeUrl["protocol"] | null;
  /** The text after the wildcard. */
  readonly host: Part;
  /** The text before the wildcard. */
  readonly path: Part;
  /** A wildcard of the host has names of this zone only. */
  readonly zoneName: string | null;
}

/** @returns why no request can match the pattern, as the end of a sentence that begins with the pattern, or the route */
export function parseRoute({
  pattern,
  isCustomDomain,
  zoneName,
}: RoutePattern): ParsedRoute | string {
  const [, scheme, host = "", path] =
    /^(?:([a-z*][a-z0-9+.-]*):\/\/)?([^/?#]*)([^]*)$/i.exec(pattern.trim()) ?? [];
  const protocol = scheme === undefined ? null : `${scheme.toLowerCase()}:`;
  if (protocol !== null && protocol !== "http:" && protocol !== "https:") {
    return `has the scheme "${scheme}": use http://, https:// or none`;
  }
  if (/[?#]/.test(pattern)) {
    return "has a query or a fragment: end the path with * to match URLs with any query";
  }
  if (isCustomDomain && (protocol !== null || path !== "" || host.includes("*"))) {
    return "is a custom domain, which is a host without scheme, path and wildcard: all paths lead to the script";
  }
  if (/:\d*$/.test(host)) return "has a port: routes have hosts and paths only. Remove the port";
  const hostPart = { text: host.replace(/^\*/, ""), hasWildcard: host.startsWith("*") };
  const pathText = path === "" ? "/" : encodePath(path as string);
  const pathPart = { text: pathText.replace(/\*$/, ""), hasWildcard: pathText.endsWith("*") };
  if (hostPart.text.includes("*") || pathPart.text.includes("*")) {
    return "has * in the middle: * is allowed as the first character of the host and the last of the path";
  }
  const name = asciiHost(hostPart.text.replace(/^\./, ""));
  const isAnyHost = hostPart.text === "" && hostPart.hasWildcard;
  if (name === null && !isAnyHost) return `has no valid host: ${JSON.stringify(host)} is no name`;
  const text = isAnyHost ? "" : `${hostPart.text.startsWith(".") ? "." : ""}${name}`;
  if (zoneName !== undefined && !isAnyHost && !isWithin(name as string, zoneName)) {
    return `is not in the zone ${zoneName} of its zone_name`;
  }
  return { protocol, host: { ...hostPart, text }, path: pathPart, zoneName: zoneName ?? null };
}

/** A name in lower case and punycode, without the final dot; `null` for text that is no name. */
export function asciiHost(host: string): string | null {
  const name = hostName(toAsciiName(host));
  return name !== null && isDnsName(name) && parseIpv4(name) === null ? name : null;
}

/** Whether a name is the zone's, by its text. */
export function isWithin(name: string, zoneName: string): boolean {
  const zone = toAsciiName(zoneName);
  return name === zone || name.endsWith(`.${zone}`);
}

/** As URLs have it: characters outside of ASCII are percent-encoded. */
function encodePath(path: string): string {
  return path.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);
}

export function matchesRoute(url: EdgeUrl, route: ParsedRoute): boolean {
  const { protocol, host, path, zoneName } = route;
  return (
    (protocol === null || protocol === url.protocol) &&
    (zoneName === null || isWithin(url.host, zoneName)) &&
    (host.hasWildcard ? url.host.endsWith(host.text) : url.host === host.text) &&
    (path.hasWildcard ? url.path.startsWith(path.text) : url.path === path.text)
  );
}

/**
 * Orders routes, the most specific first: by host, then by path, then a scheme before none. A text without wildcard
 * is more specific than any with a wildcard, and a longer text is more specific than a shorter one.
 *
 * The documentation of the platform has one exception as a known issue: `/images*` comes before `/images/*`.
 */
export function compareRoutes(a: ParsedRoute, b: ParsedRoute): number {
  return (
    compareParts(a.host, b.host) ||
    compareParts(withoutSlash(a.path), withoutSlash(b.path)) ||
    a.path.text.length - b.path.text.length ||
    Number(a.protocol === null) - Number(b.protocol === null)
  );
}

function compareParts(a: Part, b: Part): number {
  return Number(a.hasWildcard) - Number(b.hasWildcard) || b.text.length - a.text.length;
}

function withoutSlash({ text, hasWildcard }: Part): Part {
  return { text: hasWildcard ? text.replace(/\/$/, "") : text, hasWildcard };
}
