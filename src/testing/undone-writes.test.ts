import { describe, expect, it } from "vitest";
import { planCall, planSql, type BindingKind } from "./binding-call.ts";
import type { AnyCall } from "./call-details.ts";
import { UndoneWrites } from "./undone-writes.ts";

const ended = { outcome: "ok", milliseconds: 1 } as const;
const call = (kind: BindingKind, method: string, key: string): AnyCall => ({
  ...planCall({ kind, binding: kind.toUpperCase() }, method, [key]),
  ...ended,
});
const sql = (...statements: string[]): AnyCall => ({
  ...planSql({ kind: "d1", binding: "DB" }, "run", statements),
  ...ended,
});
const bucketCall = (method: "get" | "put" | "list", key: string): AnyCall => ({
  bucket: "photos",
  method,
  key,
  keys: [key],
  bytes: 0,
  outcome: "ok",
});

/** The lines about calls of the second test. */
function report(first: readonly AnyCall[], second: readonly AnyCall[]): string[] {
  const writes = new UndoneWrites();
  writes.add("first", first);
  return writes.describe(second).split("\n").slice(1, -1);
}

it("UndoneWrites says which call of a test uses what an earlier test wrote, and what to do", () => {
  const writes = new UndoneWrites();
  writes.add("users > creates a user", [call("kv", "put", "user:1")]);
  expect(writes.describe([call("kv", "get", "user:1")])).toBe(
    [
      "This test uses what earlier tests wrote, and Ledge undid these writes:",
      '  get of "user:1" in KV, after put of "user:1" in KV by "users > creates a user"',
      "If the test needs them, write them in the test or in a hook, or keep the writes of all tests with ledge({ isolate: false }).",
    ].join("\n"),
  );
});

describe("UndoneWrites", () => {
  it("is silent about other keys, other bindings, and reads of earlier tests", () => {
    expect(report([call("kv", "put", "a")], [call("kv", "get", "b")])).toEqual([]);
    expect(report([call("kv", "put", "a")], [call("r2", "get", "a")])).toEqual([]);
    expect(report([call("kv", "get", "a")], [call("kv", "get", "a")])).toEqual([]);
    expect(report([bucketCall("put", "a")], [bucketCall("list", "b")])).toEqual([]);
  });

  it("is silent about what the test wrote itself before", () => {
    const both = [call("kv", "put", "a"), call("kv", "get", "a")];
    expect(report(both, both)).toEqual([]);
    const rows = [sql("INSERT INTO users VALUES (1)"), sql("SELECT * FROM users WHERE id = 1")];
    expect(report(rows, rows)).toEqual([]);
  });

  it("names a list and the rows of a whole table, whatever the test wrote itself", () => {
    const listed = [bucketCall("put", "a"), bucketCall("list", "")];
    expect(report(listed, listed)).toHaveLength(1);
    const rows = [sql("INSERT INTO users VALUES (1)"), sql("SELECT * FROM users ORDER BY id")];
    expect(report(rows, rows)).toHaveLength(1);
    expect(report([sql("INSERT INTO users2 VALUES (1)")], rows)).toEqual([]);
  });

  it("knows the keys below the prefix of a list, deletes, and objects", () => {
    expect(report([bucketCall("put", "a/1")], [bucketCall("list", "a/")])).toEqual([
      '  list of "a/" in "photos", after put of "a/1" in "photos" by "first"',
    ]);
    expect(report([call("kv", "delete", "a")], [call("kv", "get", "a")])).toHaveLength(1);
    const increment = call("durable_objects", "increment", "a");
    expect(report([increment], [increment, increment])).toHaveLength(1);
  });

  it("knows the tables of SQL", () => {
    const insert = sql('INSERT INTO "posts" (id) VALUES (1)');
    const select = sql("SELECT * FROM users JOIN Posts ON author = users.id");
    expect(report([insert], [select])).toEqual([
      '  run of "SELECT * FROM users JOIN Posts ON author = users.id" in DB, after run of ' +
        '"INSERT INTO "posts" (id) VALUES (1)" in DB by "first"',
    ]);
    expect(report([insert], [sql("UPDATE posts SET id = 2")])).toHaveLength(1);
    expect(report([insert], [insert])).toEqual([]);
    expect(report([sql("SELECT * FROM posts")], [select])).toEqual([]);
    expect(report([sql("CREATE TABLE IF NOT EXISTS posts (id); SELECT 1")], [select])).toHaveLength(
      1,
    );
  });

  it("names three calls, and forgets the oldest of many places", () => {
    const puts = Array.from({ length: 1_001 }, (_, index) => call("kv", "put", `${index}`));
    const gets = ["0", "1", "2", "3", "4"].map((key) => call("kv", "get", key));
    expect(report(puts, gets)).toHaveLength(4);
    expect(report(puts, gets).at(-1)).toBe("  and 1 more");
  });
});
