import { describe, expect, it } from "vitest";
import type { Call } from "../store/core/fault.ts";
import type { BindingCall } from "./binding-call.ts";
import { callMatchers, makeCallMatchers, queryMatchers, type DnsQuery } from "./matchers.ts";
import type { AnyCall, CallDetails } from "./call-details.ts";

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

const refusal = (value: unknown) => () => callMatchers.toHavePut(value as AnyCall[]);

describe("toHaveFetched()", () => {
  it("finds fetch() of the global object and of services", () => {
    const url = { key: "https://a/b", keys: ["https://a/b"], status: 200 };
    const all = [
      bindingCall({ kind: "fetch", binding: "fetch", method: "POST", ...url }),
      bindingCall({ kind: "service", binding: "API", method: "fetch", ...url, status: 404 }),
      bindingCall({
        kind: "service",
        binding: "API",
        method: "send",
        key: "",
        keys: [],
        args: [1],
      }),
      bindingCall({ kind: "durable_objects", binding: "COUNTER", method: "fetch" }),
    ];
    expect(callMatchers.toHaveFetched(all, "https://a/*", { times: 2 }).pass).toBe(true);
    expect(callMatchers.toHaveFetched(all, undefined, { status: 404, times: 1 }).pass).toBe(true);
    expect(callMatchers.toHaveFetched(all, "https://c/").message()).toContain(
      '  POST of "https://a/b" in fetch: 200, 3 ms\n' +
        '  fetch of "https://a/b" in API: 404, 3 ms\n' +
        "  send in API: ok, 3 ms",
    );
    const kinds = new Map([["KV", "kv"]] as const);
    const known = makeCallMatchers({ buckets: [], bucketOfBinding: new Map(), kinds });
    expect(() => known.toHaveFetched(all)).toThrow("The script has no service");
    expect(() => known.toHaveFetched(all, "*", { binding: "KV" })).toThrow("KV is no service.");
    expect(() => known.toHavePut(all, "*", { binding: "KV", status: 1 })).toThrow('no "status"');
  });
});

describe("makeCallMatchers()", () => {
  const names = {
    buckets: ["photos", "archive"],
    bucketOfBinding: new Map([["PHOTOS", "photos"]]),
    kinds: new Map([
      ["KV", "kv"],
      ["DB", "d1"],
    ] as const),
  };
  const known = makeCallMatchers(names);
  const put = (details: CallDetails) => () => known.toHavePut(calls, "a.png", details);

  it("takes the binding of a bucket for its name", () => {
    expect(put({ binding: "PHOTOS", bytes: 5 })().pass).toBe(true);
    expect(put({ bucket: "archive" })().pass).toBe(false);
  });

  it("refuses names that no call can have", () => {
    expect(put({ bucket: "photo" })).toThrow(
      'toHavePut(): No script has a bucket "photo", so no call can match. Did you mean "photos"? ' +
        "Buckets: photos, archive.",
    );
    expect(put({ binding: "KW" })).toThrow('Did you mean "KV"? Bindings: PHOTOS, KV, DB.');
    expect(put({ binding: "DB" })).toThrow(
      'toHavePut(): "put" is no method of DB. Use first, run, all, raw, batch, exec.',
    );
    expect(put({ binding: "KV", code: 10001 })).toThrow('Calls of KV have no "code".');
  });

  it("refuses methods unless a class with methods of its own may have them", () => {
    expect(() => known.toHaveCalled(calls, "puts")).toThrow(
      '"puts" is no method of the script\'s bindings. Use head, get, put, ',
    );
    const kinds = new Map([["COUNTER", "durable_objects"]] as const);
    expect(makeCallMatchers({ ...names, kinds }).toHaveCalled(calls, "count").pass).toBe(false);
    expect(() => known.toHaveRunSql(calls, "*", { bucket: "photos" })).toThrow(
      'The bucket "photos" is no D1 database.',
    );
  });

  it("refuses other values than calls, with or without names", () => {
    expect(refusal(Promise.resolve([]))).toThrow(
      "toHavePut(): the value of expect() is a promise without await. Write expect(calls).toHavePut().",
    );
    expect(refusal({})).toThrow("is an object. Write");
    expect(refusal(new Map([["a", 1]]))).toThrow("is an object of the class Map.");
    expect(refusal([{ name: "a" }])).toThrow("is an array of other values.");
    expect(refusal(null)).toThrow("is null.");
    const details = { buckets: "photos" } as CallDetails;
    expect(() => callMatchers.toHavePut(calls, "a", details)).toThrow(
      'toHavePut(): "buckets" is no detail. Did you mean "bucket"?',
    );
  });
});

const query = (fields: Partial<DnsQuery>): DnsQuery => ({
  name: "www.example.org",
  type: "A",
  transport: "udp",
  server: "127.0.0.1",
  askedName: "www.example.org",
  clientAddress: "127.0.0.1:53124",
  flags: ["rd"],
  ednsSize: 1232,
  clientSubnet: null,
  queryBytes: 44,
  answerBytes: 60,
  durationMilliseconds: 0.1,
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
    expect(toHaveQueried(queries, /^www/, { fault: "drop", ednsSize: 1232 }).pass).toBe(true);
    expect(toHaveQueried(queries, "example.org").pass).toBe(false);
    expect(toHaveQueried(queries, undefined, { rcode: "SERVFAIL" }).pass).toBe(false);
    expect(toHaveQueried(queries, undefined, { times: 1 }).pass).toBe(false);
  });

  it("refuses other details and other values than queries", () => {
    const details = { tipe: "A" } as { type?: string };
    expect(() => toHaveQueried(queries, "a", details)).toThrow('Did you mean "type"?');
    expect(() => toHaveQueried(calls as unknown as DnsQuery[])).toThrow(
      "is an array of other values. Write expect(await dns.queries()).toHaveQueried().",
    );
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
