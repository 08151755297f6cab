/**
 * The SQL of zones: the tables, and queries for records and zones. Text of a request never becomes
 * part of a statement: values are bound.
 */
import type {
  Condition,
  Match,
  RecordQuery,
  TextOperator,
  TextTest,
  ZoneQuery,
} from "../../src/dns/rules/list-query.ts";
import { outcomeTable } from "../../src/state/outcomes.ts";

/**
 * The tables of one zone. Each order and each filter that an index can serve has an index.
 * `_folded` columns are lower case, because text filters ignore case. `content_plain` is the text
 * of a TXT record without quotation marks. `type_counts` replaces counting rows for the total of a
 * page. `facts` is the table of `ZoneState`, and `changes` of `ChangeLog`.
 */
export const zoneTables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    priority INTEGER,
    ttl INTEGER NOT NULL,
    proxied INTEGER NOT NULL,
    comment TEXT,
    tags TEXT NOT NULL,
    settings TEXT NOT NULL,
    created_on TEXT NOT NULL,
    modified_on TEXT NOT NULL,
    content_folded TEXT NOT NULL,
    content_plain TEXT,
    comment_folded TEXT
  )`,
  `CREATE INDEX IF NOT EXISTS records_by_name ON records (name, type)`,
  `CREATE INDEX IF NOT EXISTS records_by_type ON records (type, name)`,
  `CREATE INDEX IF NOT EXISTS records_by_content ON records (content_folded)`,
  `CREATE INDEX IF NOT EXISTS records_by_plain ON records (content_plain)
    WHERE content_plain IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS records_by_comment ON records (comment_folded)
    WHERE comment_folded IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS records_by_ttl ON records (ttl)`,
  `CREATE INDEX IF NOT EXISTS records_by_proxied ON records (proxied)`,
  `CREATE TABLE IF NOT EXISTS record_tags (
    name TEXT NOT NULL, value TEXT NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (name, value, seq)
  ) WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS record_tags_by_record ON record_tags (seq)`,
  `CREATE TABLE IF NOT EXISTS type_counts (type TEXT PRIMARY KEY, count INTEGER NOT NULL)
    WITHOUT ROWID`,
  `CREATE TRIGGER IF NOT EXISTS records_counted AFTER INSERT ON records BEGIN
    INSERT INTO type_counts VALUES (new.type, 1) ON CONFLICT DO UPDATE SET count = count + 1;
  END`,
  `CREATE TRIGGER IF NOT EXISTS records_discounted AFTER DELETE ON records BEGIN
    UPDATE type_counts SET count = count - 1 WHERE type = old.type;
  END`,
  `CREATE TRIGGER IF NOT EXISTS records_recounted AFTER UPDATE OF type ON records BEGIN
    UPDATE type_counts SET count = count - 1 WHERE type = old.type;
    INSERT INTO type_counts VALUES (new.type, 1) ON CONFLICT DO UPDATE SET count = count + 1;
  END`,
  `CREATE TABLE IF NOT EXISTS changes (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    serial INTEGER NOT NULL,
    action TEXT NOT NULL,
    record TEXT NOT NULL
  )`,
  outcomeTable,
];

/** In UTF-8 at most three times as many octets, less than the 2 MB that a bound value can have. */
const boundCharactersMax = 500_000;

/**
 * Rows for a statement with `json_each`, as JSON arrays. A call of SQLite costs more than a row, so
 * that one call for many rows takes a fraction of the time.
 */
export function* boundRows(rows: Iterable<unknown>): Generator<string, void> {
  let texts: string[] = [];
  let characters = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (texts.length > 0 && characters + text.length > boundCharactersMax) {
      yield `[${texts.join(",")}]`;
      [texts, characters] = [[], 0];
    }
    texts.push(text);
    characters += text.length + 1;
  }
  if (texts.length > 0) yield `[${texts.join(",")}]`;
}

interface SqlCondition {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

function when(sql: string, ...bindings: (string | number)[]): SqlCondition {
  return { sql, bindings };
}

/** `value + lastCharacter` sorts after every string that starts with `value`. */
const lastCharacter = "\u{10FFFF}";

const textTests: Readonly<Record<TextOperator, (column: string, value: string) => SqlCondition>> = {
  exact: (column, value) => when(`${column} = ?`, value),
  // An index on the column serves a range.
  startswith: (column, value) =>
    when(`${column} >= ? AND ${column} < ?`, value, value + lastCharacter),
  contains: (column, value) => when(`instr(${column}, ?) > 0`, value),
  endswith: (column, value) => when(`substr(${column}, -length(?)) = ?`, value, value),
};

function composeTextTest(column: string, { operator, value }: TextTest): SqlCondition {
  return textTests[operator](column, value);
}

function combine(conditions: readonly SqlCondition[], match: Match): SqlCondition {
  const word = match === "any" ? " OR " : " AND ";
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(word),
    bindings: conditions.flatMap(({ bindings }) => bindings),
  };
}

function composeTagCondition(condition: Extract<Condition, { kind: "tag" }>): SqlCondition {
  const test = condition.test === null ? [] : [composeTextTest("value", condition.test)];
  const { sql, bindings } = combine([when("name = ?", condition.name), ...test], "all");
  const negation = condition.present ? "" : "NOT ";
  return { sql: `seq ${negation}IN (SELECT seq FROM record_tags WHERE ${sql})`, bindings };
}

function composeCondition(condition: Condition): SqlCondition {
  switch (condition.kind) {
    case "tag":
      return composeTagCondition(condition);
    case "type":
      return when("type = ?", condition.type);
    case "proxied":
      return when("proxied = ?", condition.proxied ? 1 : 0);
    case "comment":
      return when(`comment_folded IS ${condition.present ? "NOT NULL" : "NULL"}`);
    case "text": {
      const tests = textColumns[condition.field].map((column) =>
        composeTextTest(column, condition.test),
      );
      return combine(tests, "any");
    }
  }
}

const textColumns = {
  name: ["name"],
  comment: ["comment_folded"],
  content: ["content_folded", "content_plain"],
};

function composeSearch(text: string): SqlCondition {
  const tests = Object.values(textColumns)
    .flat()
    .map((column) => textTests.contains(column, text));
  const tags = "seq IN (SELECT seq FROM record_tags WHERE instr(name || ':' || value, ?) > 0)";
  return combine([...tests, when(tags, text)], "any");
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

const textOperators = {
  equal: "exact",
  starts_with: "startswith",
  ends_with: "endswith",
  contains: "contains",
} as const;

function composeNameTest({ operator, value }: NonNullable<ZoneQuery["name"]>): SqlCondition {
  if (operator === "not_equal") return when("name <> ?", value);
  return composeTextTest("name", { operator: textOperators[operator], value });
}

function isOneOf(column: string, values: readonly string[]): SqlCondition {
  return when(`${column} IN (${values.map(() => "?").join(", ")})`, ...values);
}

export function composeZoneWhere(query: ZoneQuery): SqlCondition | null {
  const { name, types, only } = query;
  const filters = query.others.map((holds) => when(holds ? "1" : "0"));
  if (name !== null) filters.push(composeNameTest(name));
  if (types.length > 0) filters.push(isOneOf("type", types));
  const all = filters.length > 0 ? [combine(filters, query.match)] : [];
  if (only !== null) all.push(combine([isOneOf("id", only), isOneOf("name", only)], "any"));
  return all.length > 0 ? combine(all, "all") : null;
}
