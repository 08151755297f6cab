import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect, it } from "vitest";
import { UndoJournal } from "./undo-journal.ts";

/** A database in memory, with the interface of workerd's. */
function openDatabase() {
  const database = new DatabaseSync(":memory:");
  const rows = (statement: string, values: SQLInputValue[]) => {
    const prepared = database.prepare(statement);
    return prepared.columns().length === 0 ? void prepared.run(...values) : prepared.all(...values);
  };
  return {
    exec<Row>(statement: string, ...values: SQLInputValue[]) {
      const found = (rows(statement, values) ?? []) as Record<string, unknown>[];
      return Object.assign(found as unknown as Iterable<Row>, {
        toArray: () => found as Row[],
        raw: <Values>() => found.map((row) => Object.values(row)) as Iterable<Values>,
      });
    },
    names: (table: string) =>
      (rows(`SELECT name FROM ${table} ORDER BY name`, []) ?? []).map(({ name }) => name),
  };
}

it("UndoJournal.leave() undoes the writes of a layer, also in a table that the schema got later", () => {
  const sql = openDatabase();
  sql.exec("CREATE TABLE first (name TEXT PRIMARY KEY)");
  sql.exec("INSERT INTO first VALUES ('kept')");
  const earlier = new UndoJournal(sql as never);
  earlier.enter(1, "run");
  sql.exec("INSERT INTO first VALUES ('undone')");
  earlier.leave(1, "run");
  expect(sql.names("first")).toEqual(["kept"]);

  sql.exec("CREATE TABLE second (name TEXT PRIMARY KEY)");
  sql.exec("INSERT INTO second VALUES ('kept')");
  const journal = new UndoJournal(sql as never);
  journal.enter(1, "run");
  for (const table of ["first", "second"]) {
    sql.exec(`INSERT INTO ${table} VALUES ('undone')`);
    sql.exec(`DELETE FROM ${table} WHERE name = 'kept'`);
  }
  journal.leave(1, "run");
  expect([sql.names("first"), sql.names("second")]).toEqual([["kept"], ["kept"]]);
});
