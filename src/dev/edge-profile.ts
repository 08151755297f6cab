/** What a dev server adds to the edge of its state folder, and the links to the names that lead there. */
import { hostName, isServedHost } from "../base/host-rule.ts";
import { UserError } from "../base/user-error.ts";
import { projectEdge } from "../config/project-edge.ts";
import { findClash } from "../edge/core/clash.ts";
import type { EdgeMember, ScriptRoute } from "../edge/core/edge-table.ts";
import type { EdgeProfile } from "../edge/node/dev-edge.ts";
import { readZoneView } from "../edge/node/zone-view.ts";
import { scriptOptions, type StartDevOptions } from "./dev-options.ts";
import type { Project } from "./worker-input.ts";

export interface DevAddress {
  readonly url: string;
  /** As the user names the address to listen at. */
  readonly hostname: string;
}

/** @throws UserError if two scripts or buckets have one name */
export function edgeProfile(
  projects: readonly Project[],
  options: StartDevOptions,
  { url, hostname }: DevAddress,
): EdgeProfile {
  const each = scriptOptions(options);
  const parts = projects.map(({ config, wrangler }, index) => {
    const { name = wrangler.name, routes } = each[index] ?? {};
    return { name: name ?? "", ...projectEdge(config, { name, routes }) };
  });
  const [{ config, wrangler }] = projects as [Project, ...Project[]];
  const table = {
    routes: parts.flatMap(({ routes }) => routes),
    buckets: parts.flatMap(({ buckets }) => buckets),
  };
  const clash = findClash(table);
  if (clash !== null) throw new UserError(clash);
  const isLocal = isServedHost(hostname.includes(":") ? `[${hostname}]` : hostname, []);
  const host = hostName(options.host ?? wrangler.dev.host ?? "");
  return {
    member: { url, scripts: parts.map(({ name }) => name), ...table },
    settings: config.edge,
    scriptHosts: isLocal ? [...config.edge.hosts, ...(host === null ? [] : [host])] : null,
    reportsWays: options.logRequests === true || options.explorer !== false,
    cors: config.s3.cors,
  };
}

/** A message for each other dev server that has a name of this one. Here, the own comes first. */
export function clashNews({ member: own }: EdgeProfile, others: readonly EdgeMember[]): string[] {
  return others.flatMap((other) => {
    const clash = findClash({
      routes: [...own.routes, ...other.routes],
      buckets: [...own.buckets, ...other.buckets],
    });
    if (clash === null) return [];
    return (
      `${clash} The dev server at ${other.url} (process ${other.processId}) has the other. Requests to ` +
      `${own.url} lead to what this dev server runs.`
    );
  });
}

/** More than the summary shows. */
const proxiedNamesMax = 6;

/** Some names of zones that lead to origins. */
export async function proxiedNames(
  stateFolder: string,
  zones: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const zone of zones) {
    const { names = [] } = (await readZoneView(stateFolder, zone)) ?? {};
    for (const name of new Set([zone, ...names])) {
      if (found.length === proxiedNamesMax) return found;
      const view = name.includes("*") ? null : await readZoneView(stateFolder, name);
      if (view?.records.some(({ proxied }) => proxied)) found.push(name);
    }
  }
  return found;
}

/** The links to names, of which the summary shows some. A name with a wildcard stands for any. */
export function edgeLinks(
  { member, scriptHosts }: EdgeProfile,
  proxied: readonly string[],
): string[] {
  if (scriptHosts === null) return [];
  const names = [
    ...member.routes.flatMap(linkedName),
    ...member.buckets.flatMap(({ hosts }) => hosts),
    ...proxied,
  ];
  const { protocol, port } = new URL(member.url);
  return [...new Set(names)].map((name) => {
    const host = name.split("/", 1)[0] as string;
    const suffix = host.endsWith(".localhost") ? "" : ".localhost";
    return `${protocol}//${host}${suffix}:${port}${name.slice(host.length) || "/"}`;
  });
}

function linkedName({ pattern, script }: ScriptRoute): string[] {
  const name = pattern.replace(/^[a-z]+:\/\//i, "").replace(/\*$/, "");
  return script === null || name.includes("*") ? [] : [name];
}
