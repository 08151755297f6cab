import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { DatabaseFiles, neededLogBytes } from "./database-files.ts";

function openDatabase() {
  const path = join(temporaryFolder(), "d.sqlite");
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (v)");
  return { database, files: new DatabaseFiles(path), index: () => readFileSync(`${path}-shm`) };
}

describe("neededLogBytes()", () => {
  test("counts up to the last frame that is committed, until all frames are in the database", () => {
    const { database, files, index } = openDatabase();
    const first = neededLogBytes(index());
    expect(first).toBe(files.logBytes);
    database.exec("INSERT INTO t VALUES (1)");
    expect(neededLogBytes(index())).toBeGreaterThan(first as number);
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    expect(neededLogBytes(index())).toBe(0);
  });

  test("does not trust an index that is being written", () => {
    const { index } = openDatabase();
    const torn = index();
    torn.writeUInt32LE(torn.readUInt32LE(16) + 1, 16);
    expect(neededLogBytes(torn)).toBeNull();
    expect(neededLogBytes(index().subarray(0, 100))).toBeNull();
    expect(neededLogBytes(Buffer.alloc(136))).toBeNull();
  });
});

test("DatabaseFiles.logMark() tells logs of the same length apart", () => {
  const { database, files } = openDatabase();
  const other = new DatabaseFiles(join(temporaryFolder(), "d.sqlite"));
  for (const ending of ["", "-wal"]) copyFileSync(files.path + ending, other.path + ending);
  database.exec("INSERT INTO t VALUES (1)");
  // A process that is killed leaves its log.
  const insert = `const { DatabaseSync } = require("node:sqlite");
    new DatabaseSync(process.argv[1]).exec("INSERT INTO t VALUES (2)"); process.kill(process.pid, "SIGKILL")`;
  spawnSync(process.execPath, ["-e", insert, other.path]);
  const bytes = files.logBytes;
  expect(other.logBytes).toBe(bytes);
  expect(files.logMark(bytes)).not.toBe(other.logMark(bytes));
  expect(files.logMark(0)).toBe(other.logMark(0));
});

describe("DatabaseFiles.bringBack()", () => {
  const anew = { "d.sqlite": "anew", "d.sqlite-shm": "anew", "d.sqlite-wal": "anew" };
  test.each([
    ["an object has begun anew", ["", "-wal", "-shm"], anew],
    [
      "of an object that has begun anew the database file is left",
      ["", "-wal"],
      { "d.sqlite": "anew" },
    ],
    ["only the database file was set aside", [""], { "d.sqlite-wal": "log" }],
    ["nothing was set aside", [], { "d.sqlite": "main", "d.sqlite-wal": "log" }],
  ])("leads to the files when %s", (_, aside, present) => {
    const contents: Record<string, string> = { "": "main", "-wal": "log", "-shm": "index" };
    const moved = aside.map((end) => [`d.sqlite${end}-aside`, contents[end] as string] as const);
    const folder = temporaryFolder({ ...Object.fromEntries(moved), ...present });
    new DatabaseFiles(join(folder, "d.sqlite")).bringBack();
    const found = readdirSync(folder).map((name) => [
      name,
      readFileSync(join(folder, name), "utf8"),
    ]);
    expect(Object.fromEntries(found)).toEqual({ "d.sqlite": "main", "d.sqlite-wal": "log" });
  });
});
