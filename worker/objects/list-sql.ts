/** A list query as SQL. No text of a request ever becomes SQL: values are bound. */
import type { Condition, ListQuery, Match, TextTest } from "../zone/list/parameters.ts";

export interface SqlCondition {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** Sorts after every string that starts with the value before it. */
const LAST_CHARACTER = "\u{10FFFF}";

function testText(column: string, { operator, value }: TextTest): SqlCondition {
  switch (operator) {
    case "exact":
      return { sql: `${column} = ?`, bindings: [value] };
    case "startswith":
      // A range, so that the index of the column serves it.
      return {
        sql: `${column} >= ? AND ${column} < ?`,
        bindings: [value, value + LAST_CHARACTER],
      };
    case "contains":
      return { sql: `instr(${column}, ?) > 0`, bindings: [value] };
    case "endswith":
      return { sql: `substr(${column}, -length(?)) = ?`, bindings: [value, value] };
  }
}

function combine(conditions: readonly SqlCondition[], match: Match): SqlCondition {
  const word = match === "any" ? " OR " : " AND ";
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(word),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

function toSql(condition: Condition): SqlCondition {
  switch (condition.kind) {
    case "text": {
      if (condition.field === "name") return testText("name", condition.test);
      if (condition.field === "comment") return testText("comment_folded", condition.test);
      const { test } = condition;
      return combine([testText("content_folded", test), testText("content_plain", test)], "any");
    }
    case "comment":
      return { sql: `comment_folded IS ${condition.present ? "NOT NULL" : "NULL"}`, bindings: [] };
    case "type":
      return { sql: "type = ?", bindings: [condition.type] };
    case "proxied":
      return { sql: "proxied = ?", bindings: [condition.proxied ? 1 : 0] };
    case "tag": {
      const name = { sql: "name = ?", bindings: [condition.name] };
      const test = condition.test === null ? [] : [testText("value", condition.test)];
      const { sql, bindings } = combine([name, ...test], "all");
      const negation = condition.present ? "" : "NOT ";
      return { sql: `seq ${negation}IN (SELECT seq FROM record_tags WHERE ${sql})`, bindings };
    }
  }
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
export function whereSql(query: ListQuery): SqlCondition | null {
  const conditions = query.conditions.map(toSql);
  if (query.tagConditions.length > 0) {
    conditions.push(combine(query.tagConditions.map(toSql), query.tagMatch));
  }
  const all = conditions.length > 0 ? [combine(conditions, query.match)] : [];
  if (query.search !== null) all.push(searchSql(query.search));
  return all.length > 0 ? combine(all, "all") : null;
}

/** A type alone, whose total is kept and need not be counted. */
export function onlyType(query: ListQuery): string | null {
  const [condition] = query.conditions;
  const alone =
    query.conditions.length === 1 && query.tagConditions.length === 0 && query.search === null;
  return alone && condition?.kind === "type" ? condition.type : null;
}

const ORDER_COLUMNS = {
  type: ["type", "name"],
  name: ["name", "type"],
  content: ["content_folded"],
  ttl: ["ttl"],
  proxied: ["proxied"],
} as const;

/** The order of creation breaks ties, so that pages neither overlap nor leave gaps. */
export function orderSql({ order, direction }: ListQuery): string {
  return [...ORDER_COLUMNS[order], "seq"].map((column) => `${column} ${direction}`).join(", ");
}
