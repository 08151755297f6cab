/** Which index SQLite uses for which filter and order. */
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, test } from "vitest";
import { readRecordQuery } from "../../src/dns/rules/list-query.ts";
import { composeOrderBy, composeWhere, findSoleType, zoneTables } from "./zone-sql.ts";

const database = new DatabaseSync(":memory:");
beforeAll(() => {
  for (const statement of zoneTables) database.exec(statement);
});

function query(text: string) {
  return readRecordQuery(new Map(new URLSearchParams(text)), (found) => {
    throw new Error(found.message);
  });
}

function plan(sql: string, bindings: readonly (string | number)[]): string {
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...bindings) as {
    detail: string;
  }[];
  return rows.map(({ detail }) => detail).join("\n");
}

function pagePlan(text: string): string {
  const list = query(text);
  const where = composeWhere(list);
  const clause = where === null ? "" : ` WHERE ${where.sql}`;
  const sql = `SELECT seq FROM records${clause} ORDER BY ${composeOrderBy(list)} LIMIT 100 OFFSET 0`;
  return plan(sql, where?.bindings ?? []);
}

function countPlan(text: string): string {
  const where = composeWhere(query(text))!;
  return plan(`SELECT count(*) FROM records WHERE ${where.sql}`, where.bindings);
}

describe("SQLite uses an index and no scan", () => {
  test.each([
    ["name=a.example", "records_by_name (name=?"],
    ["name.startswith=a", "records_by_name (name>? AND name<?)"],
    ["type=A", "records_by_type (type=?"],
    ["type=A&name=a.example", "(type=? AND name=?)"],
    ["content=x", "records_by_content (content_folded=?)"],
    ["content=x", "records_by_plain (content_plain=?)"],
    ["content.startswith=x", "records_by_content (content_folded>? AND content_folded<?)"],
    ["comment=x", "records_by_comment (comment_folded=?)"],
    ["comment.startswith=x", "records_by_comment (comment_folded>? AND comment_folded<?)"],
    ["tag=a:b", "record_tags USING PRIMARY KEY (name=? AND value=?)"],
    ["tag.present=a", "record_tags USING PRIMARY KEY (name=?)"],
    ["tag.startswith=a:b", "record_tags USING PRIMARY KEY (name=? AND value>? AND value<?)"],
    ["name=a.example&content=x&match=any", "records_by_name (name=?"],
  ])("%s uses %s", (text, index) => {
    expect(countPlan(text)).toContain(index);
    expect(countPlan(text)).not.toMatch(/SCAN records\b/);
  });

  test.each(["type", "name", "content", "ttl", "proxied"])("order=%s needs no sort", (order) => {
    for (const direction of ["asc", "desc"]) {
      const text = pagePlan(`order=${order}&direction=${direction}`);
      expect(text).toContain(`records_by_${order}`);
      expect(text).not.toContain("TEMP B-TREE");
    }
  });

  test("type=A in the order of names needs no sort", () => {
    expect(pagePlan("type=A")).not.toContain("TEMP B-TREE");
    expect(pagePlan("type=A&order=name")).not.toContain("TEMP B-TREE");
  });
});

test("findSoleType() finds a type that is the only condition", () => {
  expect(findSoleType(query("type=a&order=name&page=3"))).toBe("A");
  for (const text of ["", "name=x", "type=A&name=x", "type=A&tag=x", "type=A&search=x"]) {
    expect(findSoleType(query(text))).toBeNull();
  }
});

test("composeWhere() binds values and writes none into the statement", () => {
  const hostile = "x'); DROP TABLE records; --";
  for (const key of [
    "name",
    "content.contains",
    "comment.endswith",
    "tag",
    "tag.absent",
    "search",
    "type",
  ]) {
    const { sql, bindings } = composeWhere(query(`${key}=${encodeURIComponent(hostile)}`))!;
    expect(sql).not.toContain("DROP");
    expect(bindings.join()).toMatch(/drop/i);
  }
});
