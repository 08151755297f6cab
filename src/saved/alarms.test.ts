import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lacksAlarms } from "./alarms.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ledge-alarms-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** @param alarms the times in milliseconds, by object */
function database(name: string, alarms: Record<string, number>): string {
  const path = join(folder, name);
  const opened = new DatabaseSync(path);
  opened.exec(
    "CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER) WITHOUT ROWID",
  );
  const insert = opened.prepare("INSERT INTO _cf_ALARM VALUES (?, ?)");
  for (const [object, time] of Object.entries(alarms))
    insert.run(object, BigInt(time) * 1_000_000n);
  opened.close();
  return path;
}

const time = Date.UTC(2026, 10, 19);

it.each([
  ["the same", { a: time }, { a: time }, false],
  ["one that is missing", {}, { a: time }, true],
  ["one that comes later", { a: time + 1 }, { a: time }, true],
  [
    "one that comes earlier, of which the runtime asks the object",
    { a: time - 1 },
    { a: time },
    false,
  ],
  ["one more, which the object does not have", { a: time, b: time }, { a: time }, false],
  ["none", {}, {}, false],
])("lacksAlarms() with %s", (_, present, saved, expected) => {
  const paths = [database("present", present), database("saved", saved)] as const;
  expect(lacksAlarms(...paths, folder)).toBe(expected);
});

it("lacksAlarms() without a database in use", () => {
  expect(lacksAlarms(join(folder, "none"), database("saved", { a: time }), folder)).toBe(true);
});
