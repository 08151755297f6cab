import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { md5 } from "../core/hash.ts";
import type { Operation } from "../core/operations.ts";
import { Bucket } from "./bucket.ts";

/** A bucket on a database of Node, with the statements that it executes. */
function openBucket() {
  const database = new DatabaseSync(":memory:");
  const queries: string[] = [];
  const exec = (query: string, ...values: SQLInputValue[]) => {
    queries.push(query);
    const statement = database.prepare(query);
    const rows = statement.all(...values);
    return {
      columnNames: statement.columns().map(({ name }) => name),
      raw: () => rows.map((row) => Object.values(row)).values(),
      toArray: () => rows,
      one: () => rows[0],
    };
  };
  const transactionSync = <Result>(act: () => Result): Result => {
    exec("SAVEPOINT transaction_sync");
    try {
      return act();
    } catch (error) {
      database.exec("ROLLBACK TO transaction_sync");
      throw error;
    } finally {
      database.exec("RELEASE transaction_sync");
    }
  };
  const bucket = new Bucket({
    storage: { sql: { exec }, transactionSync } as never,
    now: () => 0,
    randomHex: (bytes) => (count++).toString(16).padStart(2 * bytes, "0"),
    runId: "run",
    bucketName: "photos",
    databasePath: "photos.sqlite",
    requireFile: () => {},
  });
  let count = 0;
  return { bucket, queries };
}

const described = { http: {}, custom: {}, storageClass: "Standard" } as const;

function put(key: string, text: string, more: Partial<Operation> = {}): Operation {
  const bytes = new TextEncoder().encode(text);
  const content = { bytes, checksums: { md5: md5(bytes) } };
  return { method: "put", key, content, ...described, ...more } as Operation;
}

function putFile(key: string, blob: string): Operation {
  const content = { blob, size: 1_000_000, checksums: { md5: md5(new Uint8Array()) } };
  return { method: "put", key, content, ...described };
}

/** Refuses nothing. */
const suspectDisk = { outcomeOf: () => null, areAll: false };

function stateOf(bucket: Bucket, key: string): string {
  return JSON.stringify(bucket.execute([{ method: "head", key }]).outcomes);
}

describe("Bucket.execute() of a repeated request", () => {
  it.each<[string, Operation[]]>([
    ["a put", [put("a", "first")]],
    ["a put of a file", [putFile("a", "file")]],
    [
      "a put under a condition",
      [put("a", "first", { onlyIf: { etagDoesNotMatch: [{ kind: "any" }] } })],
    ],
    ["a delete", [{ method: "delete", keys: ["a"] }]],
    ["a refused put", [put("x".repeat(2000), "")]],
    ["several writes", [put("a", "first"), put("b", "second"), { method: "delete", keys: ["b"] }]],
  ])("%s: answers as at first, and changes nothing", (_, operations) => {
    const { bucket } = openBucket();
    const { outcomes } = bucket.execute(operations, "id");
    bucket.execute([put("a", "of another writer")], "other");
    const before = stateOf(bucket, "a");
    const repeated = bucket.execute(operations, "id");
    expect(repeated.outcomes).toEqual(outcomes);
    expect(stateOf(bucket, "a")).toBe(before);
    // The other writer has replaced the file, and no row names it.
    expect(repeated.released).toEqual(
      JSON.stringify(operations).includes('"file"') ? ["file"] : [],
    );
  });

  it("reads what is there now", () => {
    const { bucket } = openBucket();
    const operations = [put("a", "first"), { method: "head", key: "b" }] as Operation[];
    const { outcomes } = bucket.execute(operations, "id");
    bucket.execute([put("b", "second")], "other");
    const repeated = bucket.execute(operations, "id");
    expect(repeated.outcomes[0]).toEqual(outcomes[0]);
    expect(outcomes[1]).toEqual({ ok: true, value: null });
    expect(repeated.outcomes[1]).toMatchObject({ value: expect.any(String) });
  });

  it("writes nothing where a disk may be full", () => {
    const { bucket, queries } = openBucket();
    const { outcomes } = bucket.execute([put("a", "first")], "id");
    queries.length = 0;
    expect(bucket.execute([put("a", "first")], "id", suspectDisk).outcomes).toEqual(outcomes);
    expect(queries.filter((query) => !query.startsWith("SELECT"))).toEqual([]);
  });

  it("costs a new request no query", () => {
    const { bucket, queries } = openBucket();
    bucket.execute([put("a", "first")], "id");
    queries.length = 0;
    bucket.execute([put("b", "second")], "next");
    const statements = queries.map((query) => query.split(" ").slice(0, 3).join(" "));
    expect(statements).toEqual([
      "SAVEPOINT transaction_sync",
      "INSERT INTO bodies",
      "INSERT INTO objects",
      "INSERT INTO requests",
    ]);
  });
});
