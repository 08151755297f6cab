/** A list query as SQL. No text of a request ever becomes SQL: values are bound. */
import type {
  Condition,
  RecordQuery,
  Match,
  TextOperator,
  TextTest,
} from "../../src/dns/rules/list/record-query.ts";

export interface SqlCondition {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** Sorts after every string that starts with the value before it. */
const lastCharacter = "\u{10FFFF}";

const textTests: Readonly<Record<TextOperator, (column: string, value: string) => SqlCondition>> = {
  exact: (column, value) => ({ sql: `${column} = ?`, bindings: [value] }),
  // A range, so that the index of the column serves it.
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

function testText(column: string, { operator, value }: TextTest): SqlCondition {
  return textTests[operator](column, value);
}

function combine(conditions: readonly SqlCondition[], match: Match): SqlCondition {
  const word = match === "any" ? " OR " : " AND ";
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(word),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

function tagSql(condition: Extract<Condition, { kind: "tag" }>): SqlCondition {
  const name = { sql: "name = ?", bindings: [condition.name] };
  const test = condition.test === null ? [] : [testText("value", condition.test)];
  const { sql, bindings } = combine([name, ...test], "all");
  const negation = condition.present ? "" : "NOT ";
  return { sql: `seq ${negation}IN (SELECT seq FROM record_tags WHERE ${sql})`, bindings };
}

function toSql(condition: Condition): SqlCondition {
  if (condition.kind === "tag") return tagSql(condition);
  if (condition.kind === "type") return { sql: "type = ?", bindings: [condition.type] };
  if (condition.kind === "proxied") {
    return { sql: "proxied = ?", bindings: [condition.proxied ? 1 : 0] };
  }
  if (condition.kind === "comment") {
    return { sql: `comment_folded IS ${condition.present ? "NOT NULL" : "NULL"}`, bindings: [] };
  }
  const { field, test } = condition;
  if (field !== "content") return testText(field === "name" ? "name" : "comment_folded", test);
  return combine([testText("content_folded", test), testText("content_plain", test)], "any");
}

function searchSql(text: string): SqlCondition {
  const columns = ["name", "content_folded", "content_plain", "comment_folded"];
  const tests = columns.map((column) => testText(column, { operator: "contains", value: text }));
  const tags = {
    sql: "seq IN (SELECT seq FROM record_tags WHERE instr(name || ':' || value, ?) > 0)",
    bindings: [text],
  };
  return combine([...tests, tags], "any");
}

/** What a list has to test, or `null` when every record is wanted. */
export function whereSql(query: RecordQuery): SqlCondition | null {
  const conditions = query.conditions.map(toSql);
  if (query.tagConditions.length > 0) {
    conditions.push(combine(query.tagConditions.map(toSql), query.tagMatch));
  }
  const all = conditions.length > 0 ? [combine(conditions, query.match)] : [];
  if (query.search !== null) all.push(searchSql(query.search));
  return all.length > 0 ? combine(all, "all") : null;
}

/** A type alone, whose total is kept and need not be counted. */
export function onlyType(query: RecordQuery): string | null {
  const [condition] = query.conditions;
  const alone =
    query.conditions.length === 1 && query.tagConditions.length === 0 && query.search === null;
  return alone && condition?.kind === "type" ? condition.type : null;
}

const orderColumns = {
  type: ["type", "name"],
  name: ["name", "type"],
  content: ["content_folded"],
  ttl: ["ttl"],
  proxied: ["proxied"],
} as const;

/** The order of creation breaks ties, so that pages neither overlap nor leave gaps. */
export function orderSql({ order, direction }: RecordQuery): string {
  return [...orderColumns[order], "seq"].map((column) => `${column} ${direction}`).join(", ");
}
