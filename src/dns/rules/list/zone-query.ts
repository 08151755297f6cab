/** The query parameters of the zone list, and their SQL. */
import { problem, type ReportProblem } from "../../record/problem.ts";
import { toAsciiName } from "../../record/punycode.ts";
import { readChoice, readPage, type Page, type QueryParameters } from "./page.ts";
import type { Match } from "./record-query.ts";

const zonesPerPageDefault = 20;
/** Deviation: the deployed service allows at most 50. */
const zonesPerPageMax = 1000;

const orders = ["name", "status", "account.id", "account.name", "plan.id"] as const;
const nameOperators = {
  equal: "name = ?",
  not_equal: "name <> ?",
  starts_with: "instr(name, ?) = 1",
  ends_with: "substr(name, -length(?)) = ?",
  contains: "instr(name, ?) > 0",
} as const;

export interface ZoneQuery extends Page {
  readonly name: { readonly operator: keyof typeof nameOperators; readonly value: string } | null;
  /** Filters that match all zones or none. */
  readonly others: readonly boolean[];
  readonly types: readonly string[];
  /** The zone ids or names that a token is limited to. */
  readonly only: readonly string[] | null;
  readonly match: Match;
}

function readName(given: string): ZoneQuery["name"] {
  const colon = given.indexOf(":");
  const word = given.slice(0, Math.max(0, colon)).replace(/_case_sensitive$/, "");
  const operator = Object.hasOwn(nameOperators, word) ? (word as keyof typeof nameOperators) : null;
  const value = toAsciiName(operator === null ? given : given.slice(colon + 1));
  return { operator: operator ?? "equal", value: value.replace(/(?<=.)\.$/, "") };
}

export function readZoneQuery(
  parameters: QueryParameters,
  account: { readonly id: string; readonly name: string },
  report: ReportProblem,
): ZoneQuery {
  const name = parameters.get("name");
  const others: boolean[] = [];
  const status = parameters.get("status");
  if (status) others.push(status === "active");
  const accountId = parameters.get("account.id");
  if (accountId) others.push(accountId === account.id);
  const accountName = parameters.get("account.name");
  if (accountName) others.push(accountName.replace(/^[a-z_]+:/, "") === account.name);
  readChoice(parameters, { name: "order", values: orders, fallback: "name" }, report);
  const types = parameters.get("type")?.split(",") ?? [];
  if (types.some((type) => type === "")) report(problem.valueInvalid("type", "a list of types"));
  const limits = { perPageDefault: zonesPerPageDefault, perPageMax: zonesPerPageMax };
  return {
    name: name ? readName(name) : null,
    others,
    types,
    only: null,
    match: readChoice(
      parameters,
      { name: "match", values: ["any", "all"], fallback: "all" },
      report,
    ),
    ...readPage(parameters, limits, report),
  };
}

export function composeZoneFilter(query: ZoneQuery): { sql: string; bindings: string[] } {
  const parts: { sql: string; bindings: string[] }[] = query.others.map((holds) => ({
    sql: holds ? "1" : "0",
    bindings: [],
  }));
  if (query.name !== null) {
    const { operator, value } = query.name;
    const sql = nameOperators[operator];
    parts.push({ sql, bindings: [...sql.matchAll(/\?/g)].map(() => value) });
  }
  if (query.types.length > 0) {
    parts.push({
      sql: `type IN (${query.types.map(() => "?").join(", ")})`,
      bindings: [...query.types],
    });
  }
  const filters = {
    sql: parts.map(({ sql }) => `(${sql})`).join(query.match === "any" ? " OR " : " AND "),
    bindings: parts.flatMap(({ bindings }) => bindings),
  };
  if (query.only === null) return filters;
  const marks = query.only.map(() => "?").join(", ");
  const only = `(id IN (${marks}) OR name IN (${marks}))`;
  return {
    sql: filters.sql === "" ? only : `(${filters.sql}) AND ${only}`,
    bindings: [...filters.bindings, ...query.only, ...query.only],
  };
}
