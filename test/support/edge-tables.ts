/**
 * Tables of what names lead to, as tests write them. A row is a case: URL | what it leads to. A URL without scheme
 * is asked for by http.
 */
import { expect, test } from "vitest";
import type { Destination, EdgeTable, EdgeUrl } from "../../src/edge/core/destination.ts";
import type {
  EdgeRecord,
  EdgeSettings,
  OriginRule,
  ScriptRoute,
  ZoneView,
} from "../../src/edge/core/edge-table.ts";

/** Lines of `PATTERN -> SCRIPT [ZONE]`: `-` for no script, `domain HOST -> SCRIPT` for a custom domain. */
function routesOf(text: string): ScriptRoute[] {
  return [...text.matchAll(/^ *(domain )?(\S+) -> (\S+) ?(\S+)?$/gm)].map(
    ([, domain, pattern = "", script = "", zoneName]) => ({
      pattern,
      isCustomDomain: domain !== undefined,
      script: script === "-" ? null : script,
      ...(zoneName !== undefined && { zoneName }),
    }),
  );
}

/** Lines of `NAME TYPE CONTENT [proxied]` and `target NAME TYPE CONTENT`. */
export function zoneOf(host: string, text: string): ZoneView | null {
  const records = [...text.matchAll(/^ *(target )?(\S+) ([A-Z]+) (\S+)( proxied)?$/gm)].map(
    ([, target, name = "", type = "", content = "", proxied]) => ({
      isTarget: target !== undefined,
      record: { name, type, content, proxied: proxied !== undefined } satisfies EdgeRecord,
    }),
  );
  if (!host.endsWith("example.com")) return null;
  const own = records.filter(({ record, isTarget }) => !isTarget && record.name === host);
  const targets = records.filter(({ isTarget }) => isTarget);
  const isFollowed = own.some(({ record }) => /^(?:inside|circle)/.test(record.content));
  return {
    zoneName: "example.com",
    records: own.map(({ record }) => record),
    names: [...new Set(records.map(({ record }) => record.name))].toSorted(),
    ...(isFollowed && {
      targets: own[0]?.record.content.startsWith("circle")
        ? []
        : targets.map(({ record }) => record),
    }),
  };
}

export function tableOf(
  routes = "",
  { buckets = {}, origins = [] }: { buckets?: Record<string, string>; origins?: OriginRule[] } = {},
): EdgeTable {
  const settings: EdgeSettings = { origins, country: null, hosts: [] };
  return {
    routes: routesOf(routes),
    buckets: Object.entries(buckets).map(([host, bucketName]) => ({ bucketName, hosts: [host] })),
    settings,
  };
}

export function parseUrl(text: string): EdgeUrl {
  const [, protocol = "http:", host = "", path = ""] =
    /^(?:(https?:)\/\/)?([^/]*)(.*)$/.exec(text) ?? [];
  return {
    protocol: protocol as EdgeUrl["protocol"],
    host,
    path: path.startsWith("/") ? path : `/${path}`,
  };
}

export function shown(found: Destination | null): string {
  if (found === null) return "internet";
  switch (found.to) {
    case "script":
      return found.script;
    case "bucket":
      return `bucket ${found.bucketName}`;
    case "page":
      return `page ${found.page.status}`;
    case "origin":
      return found.origins
        .map(({ address, port, protocol }) =>
          [
            address,
            ...(port === null ? [] : [port]),
            ...(protocol === null ? [] : [protocol]),
          ].join(" "),
        )
        .join(", ");
  }
}

/** The table, with what the rows lead to in fact. */
function actual(table: string, leadsTo: (url: EdgeUrl) => Destination | null): string {
  return table.replaceAll(
    /^( *)(\S+)( *)\| .*$/gm,
    (_, indent: string, url: string, space: string) => {
      return `${indent}${url}${space}| ${shown(leadsTo(parseUrl(url)))}`;
    },
  );
}

export function leads(
  name: string,
  table: string,
  leadsTo: (url: EdgeUrl) => Destination | null,
): void {
  test(`${name}, as the table says`, () => {
    expect(actual(table, leadsTo)).toBe(table);
  });
}
