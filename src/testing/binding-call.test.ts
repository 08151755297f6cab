import { expect, it } from "vitest";
import { isRead, planCall, planSql } from "./binding-call.ts";

const kv = { kind: "kv", binding: "KV" } as const;
const d1 = { kind: "d1", binding: "DB" } as const;
const objects = { kind: "durable_objects", binding: "COUNTER" } as const;

it.each(["get", "getWithMetadata", "list"])("isRead() of %s of KV", (method) => {
  expect(isRead(planCall(kv, method, ["a"]))).toBe(true);
});

it.each(["put", "delete"])("isRead() not of %s of KV", (method) => {
  expect(isRead(planCall(kv, method, ["a"]))).toBe(false);
});

it("isRead() of no method of an object, because each of them can write", () => {
  expect(isRead(planCall(objects, "get", ["a"]))).toBe(false);
});

it.each([["SELECT 1"], [" select * from photos; "], ["SELECT 1", "SELECT 2"]])(
  "isRead() of %j",
  (...statements) => {
    expect(isRead(planSql(d1, "all", statements))).toBe(true);
  },
);

it.each([
  ["INSERT INTO photos VALUES (1)"],
  ["SELECT 1; DELETE FROM photos"],
  ["SELECT 1", "DELETE FROM photos"],
  ["WITH old AS (SELECT 1) DELETE FROM photos"],
  ["PRAGMA user_version = 1"],
  ["SELECTED"],
  [],
])("isRead() not of %j", (...statements) => {
  expect(isRead(planSql(d1, "batch", statements))).toBe(false);
});
