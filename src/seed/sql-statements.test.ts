import { describe, expect, it } from "vitest";
import { splitStatements } from "./sql-statements.ts";

const texts = (sql: string) => splitStatements(sql).map(({ text }) => text);

describe("splitStatements()", () => {
  it.each([
    ["SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]],
    [
      "SELECT 'a;b''c;'; SELECT \"d;\", `e;`, [f;]",
      ["SELECT 'a;b''c;'", 'SELECT "d;", `e;`, [f;]'],
    ],
    ["SELECT 1 -- no; end\n; /* ; */ SELECT 2; -- the end;", ["SELECT 1 -- no; end", "SELECT 2"]],
    [";; \n ;", []],
    ["-- only a comment", []],
    ["SELECT 'open; text", ["SELECT 'open; text"]],
    [
      "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET b = CASE c WHEN 1 THEN 2 END; DELETE FROM d; END; SELECT 1",
      [
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET b = CASE c WHEN 1 THEN 2 END; DELETE FROM d; END",
        "SELECT 1",
      ],
    ],
    [
      "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nINSERT INTO a VALUES (1);\nCOMMIT;\n",
      ["PRAGMA defer_foreign_keys = TRUE", "INSERT INTO a VALUES (1)"],
    ],
  ])("splits %j", (sql, expected) => {
    expect(texts(sql)).toEqual(expected);
  });

  it("says the line of each statement", () => {
    const sql = "-- one\nSELECT 1;\n\n/* three\nfour */ SELECT\n5;SELECT 6;\n'x\ny'; SELECT 8";
    expect(splitStatements(sql).map(({ line }) => line)).toEqual([2, 5, 6, 7, 8]);
  });
});
