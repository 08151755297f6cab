/** A zone query as SQL. */
import type { ZoneQuery } from "../../src/dns/rules/list-query.ts";
import { combine, composeTextTest, type SqlCondition } from "./record-query-sql.ts";

const textOperators = {
  equal: "exact",
  starts_with: "startswith",
  ends_with: "endswith",
  contains: "contains",
} as const;

function composeNameTest({ operator, value }: NonNullable<ZoneQuery["name"]>): SqlCondition {
  if (operator === "not_equal") return { sql: "name <> ?", bindings: [value] };
  return composeTextTest("name", { operator: textOperators[operator], value });
}

function isOneOf(column: string, values: readonly string[]): SqlCondition {
  return { sql: `${column} IN (${values.map(() => "?").join(", ")})`, bindings: values };
}

/** The WHERE condition of a query; `null` when the query selects every zone. */
export function composeZoneWhere(query: ZoneQuery): SqlCondition | null {
  const { name, types, only } = query;
  const filters = query.others.map((holds): SqlCondition => ({
    sql: holds ? "1" : "0",
    bindings: [],
  }));
  if (name !== null) filters.push(composeNameTest(name));
  if (types.length > 0) filters.push(isOneOf("type", types));
  const all = filters.length > 0 ? [combine(filters, query.match)] : [];
  if (only !== null) all.push(combine([isOneOf("id", only), isOneOf("name", only)], "any"));
  return all.length > 0 ? combine(all, "all") : null;
}
