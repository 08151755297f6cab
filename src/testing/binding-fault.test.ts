import { describe, expect, it } from "vitest";
import type { BindingKind, PlannedCall } from "./binding-call.ts";
import {
  describeBindingFault,
  failedCall,
  makeBindingFault,
  type BindingFaultTarget,
} from "./binding-fault.ts";

const kinds = new Map<string, BindingKind>([
  ["KV", "kv"],
  ["DB", "d1"],
  ["LOGS", "d1"],
  ["FILES", "r2"],
  ["COUNTER", "durable_objects"],
  ["caches", "cache"],
  ["MAIL", "service"],
  ["JOBS", "queue"],
  ["fetch", "fetch"],
]);

const call = (binding: string, method: string, key = "a"): PlannedCall => ({
  kind: kinds.get(binding) as BindingKind,
  binding,
  method,
  key,
  keys: [key],
});
const sql = (binding: string, method: string, ...statements: string[]): PlannedCall => ({
  ...call(binding, method, ""),
  keys: [],
  sql: statements.join(";\n"),
  statements,
});
const fail = (target: BindingFaultTarget & { code?: number; text?: string }) =>
  makeBindingFault(target, { kind: "fail", ...target }, kinds);
const message = (text: string) => ({ kind: "fail", message: text });
const messageOf = (target: Parameters<typeof fail>[0], hit: PlannedCall) =>
  fail(target).hit(hit)?.effect;

describe("a fault of a binding", () => {
  it("hits the calls that match every field", () => {
    const fault = fail({ binding: "KV", method: ["get", "put"], key: "images/*" });
    expect(fault.hit(call("KV", "get", "images/a"))).toMatchObject({ nth: 1, when: "before" });
    expect(fault.hit(call("KV", "put", "images/a"))?.nth).toBe(2);
    expect(fault.hit(call("KV", "delete", "images/a"))).toBeNull();
    expect(fault.hit(call("KV", "get", "a"))).toBeNull();
    expect(fault.hit(call("FILES", "get", "images/a"))).toBeNull();
  });

  it("hits the statements of every database, or of one", () => {
    const fault = fail({ sql: /insert/i, nth: 2 });
    expect(fault.hit(sql("DB", "run", "INSERT INTO a VALUES (1)"))).toBeNull();
    expect(fault.hit(sql("LOGS", "batch", "SELECT 1", "insert into b values (1)"))?.nth).toBe(2);
    expect(fail({ sql: /insert/i }).hit(sql("DB", "run", "SELECT 1"))).toBeNull();
    expect(fail({ binding: "DB", sql: "*" }).hit(sql("LOGS", "run", "SELECT 1"))).toBeNull();
  });

  it("has the message of the deployed service", () => {
    const kv = { binding: "KV" };
    expect(messageOf(kv, call("KV", "put"))).toEqual(
      message("KV PUT failed: 500 Internal Server Error"),
    );
    expect(messageOf({ ...kv, code: 429 }, call("KV", "list"))).toEqual(
      message("KV GET failed: 429 Too Many Requests"),
    );
    expect(messageOf(kv, { ...call("KV", "get"), keys: ["a", "b"] })).toEqual(
      message("KV GET_BULK failed: 500 Internal Server Error"),
    );
    expect(messageOf({ ...kv, code: 418, text: "A teapot" }, call("KV", "get"))).toEqual(
      message("KV GET failed: 418 A teapot"),
    );
    expect(messageOf({ binding: "DB", text: "too busy" }, sql("DB", "exec", "SELECT 1"))).toEqual(
      message("D1_EXEC_ERROR: too busy"),
    );
    expect(messageOf({ binding: "FILES", code: 10058 }, call("FILES", "put"))).toEqual(
      message("put: Reduce your concurrent request rate for the same object. (10058)"),
    );
    expect(messageOf({ binding: "COUNTER" }, call("COUNTER", "count"))).toEqual(
      message("Internal error in Durable Object storage caused object to be reset."),
    );
    expect(messageOf({ binding: "caches" }, call("caches", "put"))).toEqual(
      message("Network connection lost."),
    );
  });

  it("answers a fetch with a status, or fails like the network", async () => {
    const get = call("fetch", "GET", "https://example.org/");
    const hit = fail({ binding: "fetch", key: "https://*", code: 503 }).hit(get)!;
    expect(hit.effect).toEqual({ ...message("Service Unavailable"), status: 503 });
    expect(describeBindingFault(hit)).toContain(
      '"https://example.org/" in fetch was answered with status 503',
    );
    const response = failedCall(get, hit);
    expect([response.status, await response.text()]).toEqual([503, "Service Unavailable"]);
    expect(failedCall(get, fail({ binding: "fetch", code: 204 }).hit(get)!).body).toBeNull();
    expect(() => failedCall(get, fail({ binding: "fetch" }).hit(get)!)).toThrow(
      "Network connection lost.",
    );
    expect(() => fail({ binding: "fetch", code: 1 })).toThrow("from 200 to 599");
    expect(() => fail({ binding: "fetch", method: "get" })).toThrow("is no method of fetch");
  });

  it("with a status hits fetch() of a service, and not its other methods", () => {
    const fault = fail({ binding: "MAIL", code: 502 });
    expect(fault.hit(call("MAIL", "send"))).toBeNull();
    expect(fault.hit(call("MAIL", "fetch"))?.effect).toMatchObject({ status: 502 });
    expect(() => fail({ binding: "MAIL", method: "send", code: 502 })).toThrow("have no code");
    expect(messageOf({ binding: "MAIL", text: "full" }, call("MAIL", "send"))).toEqual(
      message("full"),
    );
    expect(messageOf({ binding: "JOBS", code: 429 }, call("JOBS", "sendBatch"))).toEqual(
      message("Queue sendBatch failed: Too Many Requests"),
    );
  });

  it("is described, used or not", () => {
    const fault = makeBindingFault(
      { binding: "KV", times: 1, when: "after" },
      { kind: "slow", by: "2s" },
      kinds,
    );
    expect(fault.unused).toEqual({
      text: 'slow({ binding: "KV", times: 1, when: "after" })',
      matches: 0,
    });
    const injected = fault.hit(call("KV", "get"));
    expect(injected && describeBindingFault(injected)).toBe(
      'get of "a" in KV took 2000 ms longer (call 1 that the fault matches)',
    );
    expect(fault.unused).toBeNull();
    expect(fault.hit(call("KV", "get"))).toBeNull();
  });

  it("says which binding, method or field is wrong before the first call", () => {
    expect(() => fail({ binding: "KW" })).toThrow(
      'The script has no binding whose calls can fail "KW", so the fault would hit no call. Did you mean "KV"? ' +
        "Bindings: KV, DB, LOGS, FILES, COUNTER, caches, MAIL, JOBS, fetch.",
    );
    expect(() => fail({ binding: "KV", sql: /x/ })).toThrow('no D1 database "KV"');
    expect(() => makeBindingFault({ sql: /x/ }, { kind: "drop" }, new Map())).toThrow(
      'The script has no D1 database, so a fault with "sql" would hit no call.',
    );
    expect(() => fail({ binding: "FILES", method: "getWithMetadata" })).toThrow(
      "is no method of FILES",
    );
    expect(() => fail({ binding: "COUNTER", method: "count" })).not.toThrow();
    expect(() => fail({ binding: "KV", code: 418 })).toThrow("give a text too");
    expect(() => makeBindingFault({ binding: "KV" }, { kind: "slow", by: "soon" }, kinds)).toThrow(
      "is not a length of time",
    );
    expect(() => fail({ binding: "KV", probability: 2 })).toThrow("give a number from 0 to 1");
  });
});
