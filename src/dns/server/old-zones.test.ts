import { createHash, createHmac } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { moveOldZones } from "./old-zones.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-old-zones-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

/** workerd's name of the database of an object. */
function databasePath(objects: string, uniqueKey: string, name: string): string {
  const key = createHash("sha256").update(uniqueKey).digest();
  const hmac = (data: string | Buffer) =>
    createHmac("sha256", key).update(data).digest().subarray(0, 16);
  const id = Buffer.concat([hmac(name), hmac(hmac(name))]).toString("hex");
  return join(folder, objects, `${id}.sqlite`);
}

const oldPath = (className: string, name: string) =>
  databasePath(`ledge-dns-${className}`, `ledge-dns-${className}`, name);
const newPath = (className: string, name: string) =>
  databasePath(`do/dns-${className}`, `dns-${className}`, name);

function open(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL");
  return database;
}

type PathOf = typeof oldPath;

/** Makes a zone with A records, by name. */
function makeZone(pathOf: PathOf, zone: string, names: readonly string[]): void {
  const index = open(pathOf("IndexObject", "zones"));
  index.exec(
    `CREATE TABLE IF NOT EXISTS zones (
      id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, type TEXT NOT NULL, zone TEXT NOT NULL
    ) WITHOUT ROWID`,
  );
  const id = `id of ${zone}`;
  index.prepare("INSERT INTO zones VALUES (?, ?, 'full', ?)").run(id, zone, `{"id":"${id}"}`);
  index.close();
  const database = open(pathOf("ZoneObject", id));
  database.exec(
    `CREATE TABLE records (
      seq INTEGER PRIMARY KEY, name TEXT, type TEXT, content TEXT, priority INTEGER, ttl INTEGER,
      proxied INTEGER, comment TEXT, tags TEXT, settings TEXT
    )`,
  );
  const insert = database.prepare(
    "INSERT INTO records VALUES (NULL, ?, 'A', '192.0.2.1', NULL, 300, 0, 'note', '[]', '{}')",
  );
  for (const name of names) insert.run(`${name}.${zone}`);
  database.close();
}

function zoneNames(): string[] {
  const index = open(newPath("IndexObject", "zones"));
  const rows = index.prepare("SELECT name FROM zones ORDER BY name").all();
  index.close();
  return rows.map(({ name }) => name as string);
}

function recordNames(zone: string): string[] {
  const database = open(newPath("ZoneObject", `id of ${zone}`));
  const rows = database.prepare("SELECT name FROM records ORDER BY name").all();
  database.close();
  return rows.map(({ name }) => name as string);
}

test("moveOldZones() does nothing without zones of an earlier version", () => {
  expect(moveOldZones(folder)).toEqual([]);
  makeZone(newPath, "example.org", ["www"]);
  expect(moveOldZones(folder)).toEqual([]);
  expect(recordNames("example.org")).toEqual(["www.example.org"]);
});

test("moveOldZones() moves all zones to a companion worker without zones", () => {
  makeZone(oldPath, "example.org", ["www"]);
  makeZone(oldPath, "example.com", ["a", "b"]);
  const [message, ...others] = moveOldZones(folder);
  expect(others).toEqual([]);
  expect(message).toContain("are zones of all tools now: example.com, example.org.");
  expect(zoneNames()).toEqual(["example.com", "example.org"]);
  expect(recordNames("example.com")).toEqual(["a.example.com", "b.example.com"]);
  expect(moveOldZones(folder)).toEqual([]);
});

test("moveOldZones() adds zones that the companion worker does not have", () => {
  makeZone(newPath, "example.org", ["kept"]);
  makeZone(oldPath, "example.com", ["moved"]);
  expect(moveOldZones(folder)).toHaveLength(1);
  expect(zoneNames()).toEqual(["example.com", "example.org"]);
  expect(recordNames("example.org")).toEqual(["kept.example.org"]);
  expect(recordNames("example.com")).toEqual(["moved.example.com"]);
});

test("moveOldZones() writes the other records of a zone that exists twice to a file", () => {
  makeZone(newPath, "example.org", ["both", "new"]);
  makeZone(oldPath, "example.org", ["both", "old"]);
  const path = join(folder, "old-zones", "example.org.zone");
  expect(moveOldZones(folder)).toEqual([
    expect.stringContaining(`ledge dns import example.org ${path}`),
  ]);
  expect(readFileSync(path, "utf8")).toBe(
    "old.example.org.\t300\tIN\tA\t192.0.2.1 ; note cf_tags=cf-proxied:false\n",
  );
  expect(recordNames("example.org")).toEqual(["both.example.org", "new.example.org"]);
  expect(existsSync(join(folder, "old-zones", "ledge-dns-ZoneObject"))).toBe(true);
  expect(moveOldZones(folder)).toEqual([]);
});

test("moveOldZones() keeps what an earlier move has kept", () => {
  makeZone(newPath, "example.org", []);
  for (const name of ["first", "second"]) {
    makeZone(oldPath, "example.org", [name]);
    expect(moveOldZones(folder)).toHaveLength(1);
  }
  const files = readdirSync(join(folder, "old-zones")).filter((name) => name.includes(".zone"));
  const texts = files.map((name) => readFileSync(join(folder, "old-zones", name), "utf8"));
  expect(texts.join("")).toMatch(/^first[^]*^second/m);
});

test("moveOldZones() reports no zone that is the same twice", () => {
  makeZone(newPath, "example.org", ["both", "new"]);
  makeZone(oldPath, "example.org", ["both"]);
  expect(moveOldZones(folder)).toEqual([]);
  expect(existsSync(join(folder, "ledge-dns-IndexObject"))).toBe(false);
});

test("moveOldZones() completes a move that was interrupted", () => {
  makeZone(newPath, "example.org", []);
  makeZone(oldPath, "example.com", ["moved"]);
  // The databases were moved, and the index was not changed yet.
  const path = newPath("ZoneObject", "id of example.com");
  const old = new DatabaseSync(oldPath("ZoneObject", "id of example.com"));
  old.exec(`VACUUM INTO '${path}'`);
  old.close();
  rmSync(oldPath("ZoneObject", "id of example.com"));
  moveOldZones(folder);
  expect(zoneNames()).toEqual(["example.com", "example.org"]);
  expect(recordNames("example.com")).toEqual(["moved.example.com"]);
});
