/** Databases and rows of earlier versions, whose uploads have no condition. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect, it } from "vitest";
import { UndoJournal } from "../../base/undo-journal.ts";
import type { RestoredValue } from "../core/operations.ts";
import { Restoration } from "./restoration.ts";
import { createTables, openTables } from "./schema.ts";

/** The interface of workerd on a database of Node. */
function openStorage() {
  const database = new DatabaseSync(":memory:");
  const exec = (query: string, ...values: SQLInputValue[]) => {
    const statement = database.prepare(query);
    const rows = statement.all(...values);
    return {
      columnNames: statement.columns().map(({ name }) => name),
      toArray: () => rows,
      raw: () => rows.map((row) => Object.values(row)).values(),
      [Symbol.iterator]: () => rows.values(),
    };
  };
  const storage = { sql: { exec }, transactionSync: (act: () => unknown) => act() };
  return { database, storage: storage as unknown as Parameters<typeof openTables>[0] };
}

const upload: RestoredValue[] = [
  "1f",
  "key",
  "in progress",
  5,
  5,
  "Standard",
  "{}",
  "{}",
  null,
  null,
  null,
];

function openEarlier() {
  const { database, storage } = openStorage();
  createTables(storage.sql);
  database.exec("ALTER TABLE uploads DROP COLUMN only_if");
  database.prepare(`INSERT INTO uploads VALUES (${upload.map(() => "?").join()})`).run(...upload);
  return { database, storage };
}

it("openTables() gives the uploads of an earlier version a condition, and keeps their rows", () => {
  const { database, storage } = openEarlier();
  const indexes = "SELECT name, sql FROM sqlite_master WHERE type = 'index' ORDER BY name";
  const before = database.prepare(indexes).all();
  // What a restoration has left that was killed.
  database.exec("CREATE TABLE staged_uploads (upload_id TEXT)");
  openTables(storage, "photos");
  openTables(storage, "photos");
  const [row] = database.prepare("SELECT * FROM uploads").all();
  expect(Object.entries(row ?? {}).at(-1)).toEqual(["only_if", null]);
  expect(Object.values(row ?? {})).toEqual([...upload, null]);
  expect(database.prepare(indexes).all()).toEqual(before);
  expect(before.map(({ name }) => name)).toContain("uploads_by_key");
});

it("openTables() leaves no copies of the undo journal that lack the condition", () => {
  const { storage } = openEarlier();
  const { sql } = storage;
  new UndoJournal(sql).enter(1, "a run");
  new UndoJournal(sql).leave(1, "a run");
  openTables(storage, "photos");
  const journal = new UndoJournal(sql);
  sql.exec("UPDATE uploads SET only_if = '{}'");
  journal.enter(1, "a later run");
  sql.exec("UPDATE uploads SET only_if = NULL, since = 9");
  journal.leave(1, "a later run");
  const rows = sql.exec("SELECT since, only_if FROM uploads").toArray();
  expect(rows).toEqual([{ since: 5, only_if: "{}" }]);
});

it("Restoration.collect() takes the uploads of an earlier version", () => {
  const { database, storage } = openStorage();
  openTables(storage, "photos");
  const restoration = new Restoration(storage);
  restoration.collect({ id: "1", step: "begin" });
  const rows = [[...upload], [...upload.with(0, "2f"), "{}"]];
  for (const row of rows) {
    restoration.collect({ id: "1", step: "rows", table: "uploads", rows: [row] });
  }
  const staged = database.prepare("SELECT upload_id, only_if FROM staged_uploads").all();
  expect(staged).toEqual([
    { upload_id: "1f", only_if: null },
    { upload_id: "2f", only_if: "{}" },
  ]);
});
