import { describe, expect, it } from "vitest";
import type { Call } from "../store/core/fault.ts";
import type { BindingCall } from "./binding-call.ts";
import { callMatchers, queryMatchers, type DnsQuery } from "./matchers.ts";

const call = (fields: Partial<Call>): Call => ({
  bucket: "photos",
  method: "put",
  key: "a.png",
  keys: ["a.png"],
  bytes: 5,
  outcome: "ok",
  ...fields,
});

const calls = [call({}), call({ method: "delete", keys: ["b", "c"], bytes: 0 })];

const bindingCall = (fields: Partial<BindingCall>): BindingCall => ({
  kind: "kv",
  binding: "KV",
  method: "put",
  key: "a.png",
  keys: ["a.png"],
  outcome: "ok",
  milliseconds: 3.4,
  ...fields,
});
const statements = ["INSERT INTO a VALUES (1)", "SELECT 1"];
const bindingCalls = [
  bindingCall({}),
  bindingCall({
    kind: "d1",
    binding: "DB",
    method: "batch",
    key: "",
    keys: [],
    sql: statements.join(";\n"),
    statements,
  }),
  bindingCall({
    method: "count",
    binding: "COUNTER",
    key: "a",
    keys: ["a"],
    outcome: "error",
    error: "broken",
  }),
];

describe("callMatchers", () => {
  it("finds calls by method, key and details", () => {
    expect(callMatchers.toHavePut(calls, "*.png", { bytes: 5, times: 1 }).pass).toBe(true);
    expect(callMatchers.toHaveDeleted(calls, "c").pass).toBe(true);
    expect(callMatchers.toHavePut(calls, "b").pass).toBe(false);
    expect(callMatchers.toHavePut(calls, undefined, { bucket: "thumbnails" }).pass).toBe(false);
    expect(callMatchers.toHavePut(calls, undefined, { times: 2 }).pass).toBe(false);
    expect(callMatchers.toHaveCalled(calls, "delete").pass).toBe(true);
  });

  it("prints the expected call and the calls that were made", () => {
    expect(callMatchers.toHaveGot(calls, "a.png", { outcome: "none" }).message()).toBe(
      'expect(calls).toHaveGot(): expected get of a.png with {"outcome":"none"}, found 0. Calls:\n' +
        "  put a.png in photos: ok, 5 bytes\n" +
        "  delete b, c in photos: ok, 0 bytes",
    );
    expect(callMatchers.toHaveListed([]).message()).toContain("Calls:\n  none");
  });

  it("finds calls of other bindings", () => {
    const all = [...calls, ...bindingCalls];
    expect(callMatchers.toHavePut(all, "a.png", { times: 2 }).pass).toBe(true);
    expect(callMatchers.toHavePut(all, "a.png", { binding: "KV", times: 1 }).pass).toBe(true);
    expect(callMatchers.toHavePut(all, "a.png", { bucket: "photos", times: 1 }).pass).toBe(true);
    expect(callMatchers.toHaveRunSql(all, /^SELECT/, { binding: "DB" }).pass).toBe(true);
    expect(callMatchers.toHaveRunSql(all, /^DELETE/).pass).toBe(false);
    expect(callMatchers.toHaveRunSql(calls).pass).toBe(false);
    expect(callMatchers.toHaveCalled(all, "count", "a", { outcome: "error" }).pass).toBe(true);
    expect(callMatchers.toHaveRunSql(bindingCalls, "DROP*").message()).toBe(
      "expect(calls).toHaveRunSql(): expected SQL of DROP*, found 0. Calls:\n" +
        '  put of "a.png" in KV: ok, 3 ms\n' +
        '  batch of "INSERT INTO a VALUES (1);\nSELECT 1" in DB: ok, 3 ms\n' +
        '  count of "a" in COUNTER: broken, 3 ms',
    );
  });
});

const query = (fields: Partial<DnsQuery>): DnsQuery => ({
  name: "www.example.org",
  type: "A",
  transport: "udp",
  server: "127.0.0.1",
  rcode: "NOERROR",
  truncated: false,
  fault: null,
  time: "2030-01-01T00:00:00.000Z",
  ...fields,
});
const queries = [query({}), query({ type: "AAAA", rcode: null, fault: "drop" })];
const { toHaveQueried } = queryMatchers;

describe("toHaveQueried()", () => {
  it("finds queries by name and details", () => {
    expect(toHaveQueried(queries).pass).toBe(true);
    expect(toHaveQueried(queries, "WWW.example.org.", { type: "A", times: 1 }).pass).toBe(true);
    expect(toHaveQueried(queries, "*.example.org", { times: 2 }).pass).toBe(true);
    expect(toHaveQueried(queries, /^www/, { fault: "drop" }).pass).toBe(true);
    expect(toHaveQueried(queries, "example.org").pass).toBe(false);
    expect(toHaveQueried(queries, undefined, { rcode: "SERVFAIL" }).pass).toBe(false);
    expect(toHaveQueried(queries, undefined, { times: 1 }).pass).toBe(false);
  });

  it("prints the expected query and the queries that arrived", () => {
    expect(toHaveQueried(queries, "ns1.example.org", { type: "A" }).message()).toBe(
      'expect(queries).toHaveQueried(): expected a query for ns1.example.org with {"type":"A"}, ' +
        "found 0. Queries:\n" +
        "  www.example.org A over udp: NOERROR\n" +
        "  www.example.org AAAA over udp: no answer (fault: drop)",
    );
    expect(toHaveQueried([]).message()).toContain("Queries:\n  none");
    expect(toHaveQueried(queries).message()).toContain("expected no query, found 2.");
  });
});
