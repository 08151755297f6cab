/** `[edge]` of the configuration file: what the edge may reach, and for whom it answers; and the routes. */
import { hostName } from "../../base/host-rule.ts";
import { portMax } from "../../base/ports.ts";
import {
  described,
  integerSchema,
  isTable,
  listSchema,
  oneOfSchema,
  optional,
  parseValue,
  tableSchema,
  textMatchingSchema,
  textSchema,
  type ReportMistake,
  type Table,
} from "../../base/schema.ts";
import { parseIpv4, parseIpv6 } from "../../dns/record/ip-address.ts";
import { parseNetwork } from "../core/destination.ts";
import type { EdgeSettings, RoutePattern } from "../core/edge-table.ts";
import { asciiHost, parseRoute } from "../core/route-pattern.ts";

const originHost = textSchema((text) => {
  const isAddress = (parseIpv4(text) ?? parseIpv6(text) ?? parseNetwork(text)) !== null;
  return isAddress ? text.toLowerCase() : asciiHost(text);
}, 'must be a name, an address or a network, such as "app.example.com", "10.0.0.5" or "10.0.0.0/8"');

const origin = tableSchema(
  {
    host: described(
      "A name, an address or a network of a record's content, or the proxied name itself.",
      originHost,
    ),
    port: optional("The port. Default: the port of the protocol.", integerSchema(1, portMax)),
    protocol: optional(
      "The protocol. Default: the protocol of the request.",
      oneOfSchema(["http", "https"]),
    ),
  },
  { host: "app.example.com" },
);

export const edgeSchema = described(
  "The edge: where names of zones lead.",
  tableSchema({
    origins: optional(
      "Where proxied records may lead besides this machine, and their ports.",
      listSchema(origin, "must be a list: write [[edge.origins]], or a JSON array"),
      [],
    ),
    country: optional(
      "The country of all visitors, for scripts and origins (CF-IPCountry).",
      textMatchingSchema(
        /^(?:[A-Z]{2}|T1)$/,
        'must be a country code of two letters, such as "DE"',
      ),
    ),
    hosts: optional(
      "Hosts besides loopback and the names of zones for which the script answers.",
      listSchema(
        textSchema(
          (text) => (/:\d+$/.test(text) ? null : hostName(text)),
          'must be a host name or an address without a port, such as "name.tunnel.example"',
        ),
      ),
      [],
    ),
  }),
);

export function readEdge({ edge: given = {} }: Table, report: ReportMistake): EdgeSettings {
  const { origins, country, hosts } = parseValue(edgeSchema, given, ["edge"], report) ?? {
    origins: [],
    hosts: [],
  };
  return { origins, country: country ?? null, hosts };
}

/**
 * `route` and `routes`, in the forms of wrangler. wrangler checks the forms.
 *
 * @param report gets the patterns that no request can match, which are left out
 */
export function readRoutes(table: Table, report: ReportMistake): RoutePattern[] {
  const { route, routes } = table;
  const list: readonly unknown[] = Array.isArray(routes) ? routes : [];
  const entries = [
    { path: ["route"], entry: route },
    ...list.map((entry, index) => ({ path: ["routes", index], entry })),
  ];
  return entries.flatMap(({ path, entry }) => {
    const {
      pattern,
      custom_domain: isCustomDomain,
      zone_name: zoneName,
    } = isTable(entry) ? entry : { pattern: entry };
    if (typeof pattern !== "string") return [];
    const found: RoutePattern = {
      pattern,
      isCustomDomain: isCustomDomain === true,
      ...(typeof zoneName === "string" && { zoneName }),
    };
    const problem = routeProblem(found);
    if (problem !== null) report(path, problem);
    return problem === null ? [found] : [];
  });
}

export function routeProblem(route: RoutePattern): string | null {
  const parsed = parseRoute(route);
  return typeof parsed === "string" ? `${JSON.stringify(route.pattern)} ${parsed}` : null;
}
