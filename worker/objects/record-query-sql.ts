/** A record query as SQL. Text of a request never becomes part of a statement: values are bound. */
import type {
  Condition,
  RecordQuery,
  Match,
  TextOperator,
  TextTest,
} from "../../src/dns/rules/list-query.ts";

export interface SqlCondition {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** `value + lastCharacter` sorts after every string that starts with `value`. */
const lastCharacter = "\u{10FFFF}";

const textTests: Readonly<Record<TextOperator, (column: string, value: string) => SqlCondition>> = {
  exact: (column, value) => ({ sql: `${column} = ?`, bindings: [value] }),
  // An index on the column serves a range.
  startswith: (column, value) => ({
    sql: `${column} >= ? AND ${column} < ?`,
    bindings: [value, value + lastCharacter],
  }),
  contains: (column, value) => ({ sql: `instr(${column}, ?) > 0`, bindings: [value] }),
  endswith: (column, value) => ({
    sql: `substr(${column}, -length(?)) = ?`,
    bindings: [value, value],
  }),
};

export function composeTextTest(column: string, { operator, value }: TextTest): SqlCondition {
  return textTests[operator](column, value);
}

export function combine(conditions: readonly SqlCondition[], match: Match): SqlCondition {
  const word = match === "any" ? " OR " : " AND ";
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(word),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

function composeTagCondition(condition: Extract<Condition, { kind: "tag" }>): SqlCondition {
  const name = { sql: "name = ?", bindings: [condition.name] };
  const test = condition.test === null ? [] : [composeTextTest("value", condition.test)];
  const { sql, bindings } = combine([name, ...test], "all");
  const negation = condition.present ? "" : "NOT ";
  return { sql: `seq ${negation}IN (SELECT seq FROM record_tags WHERE ${sql})`, bindings };
}

function composeCondition(condition: Condition): SqlCondition {
  if (condition.kind === "tag") return composeTagCondition(condition);
  if (condition.kind === "type") return { sql: "type = ?", bindings: [condition.type] };
  if (condition.kind === "proxied") {
    return { sql: "proxied = ?", bindings: [condition.proxied ? 1 : 0] };
  }
  if (condition.kind === "comment") {
    return { sql: `comment_folded IS ${condition.present ? "NOT NULL" : "NULL"}`, bindings: [] };
  }
  const { field, test } = condition;
  if (field !== "content")
    return composeTextTest(field === "name" ? "name" : "comment_folded", test);
  return combine(
    [composeTextTest("content_folded", test), composeTextTest("content_plain", test)],
    "any",
  );
}

function composeSearch(text: string): SqlCondition {
  const columns = ["name", "content_folded", "content_plain", "comment_folded"];
  const tests = columns.map((column) =>
    composeTextTest(column, { operator: "contains", value: text }),
  );
  const tags = {
    sql: "seq IN (SELECT seq FROM record_tags WHERE instr(name || ':' || value, ?) > 0)",
    bindings: [text],
  };
  return combine([...tests, tags], "any");
}

/** The WHERE condition of a query; `null` when the query selects every record. */
export function composeWhere(query: RecordQuery): SqlCondition | null {
  const conditions = query.conditions.map(composeCondition);
  if (query.tagConditions.length > 0) {
    conditions.push(combine(query.tagConditions.map(composeCondition), query.tagMatch));
  }
  const all = conditions.length > 0 ? [combine(conditions, query.match)] : [];
  if (query.search !== null) all.push(composeSearch(query.search));
  return all.length > 0 ? combine(all, "all") : null;
}

/** The type, when it is the only condition: `type_counts` has the total of such a query. */
export function findSoleType(query: RecordQuery): string | null {
  const [condition] = query.conditions;
  const isSole =
    query.conditions.length === 1 && query.tagConditions.length === 0 && query.search === null;
  return isSole && condition?.kind === "type" ? condition.type : null;
}

const orderColumns = {
  type: ["type", "name"],
  name: ["name", "type"],
  content: ["content_folded"],
  ttl: ["ttl"],
  proxied: ["proxied"],
} as const;

/** The order of creation breaks ties, so that pages neither overlap nor leave gaps. */
export function composeOrderBy({ order, direction }: RecordQuery): string {
  return [...orderColumns[order], "seq"].map((column) => `${column} ${direction}`).join(", ");
}
