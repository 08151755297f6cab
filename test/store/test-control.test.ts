/** `testControl()`: the test API for tests in Node. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import {
  callMatchers,
  queryMatchers,
  testBindings,
  testControl,
  type StoreBucket,
  type TestControl,
} from "../../dist/index.js";
import { temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

const script = `
  export default {
    async fetch(request, env) {
      const key = new URL(request.url).pathname.slice(1);
      if (request.method === "PUT") return Response.json(await env.BUCKET.put(key, await request.text()));
      const object = await env.BUCKET.get(key);
      return object === null ? new Response(null, { status: 404 }) : new Response(object.body);
    },
  };`;

let miniflare: Miniflare;
let control: TestControl;
let bucket: StoreBucket;
let undo: () => Promise<void>;

beforeAll(async () => {
  const described = worker(script);
  const env = { BUCKET: described.config.env.BUCKET, ...testBindings() };
  miniflare = new Miniflare({ workers: [{ ...described, config: { ...described.config, env } }] });
  ({ BUCKET: bucket } = await miniflare.getBindings<{ BUCKET: StoreBucket }>());
  control = await testControl(miniflare);
});

afterAll(() => miniflare.dispose());

beforeEach(async () => {
  undo = await control.isolate();
});

afterEach(() => undo());

it("isolate() returns a function that undoes all changes since the call", async () => {
  await control.seed("photos", { kept: "1" });
  const undoRest = await control.isolate();
  await miniflare.dispatchFetch("http://script/by-script", { method: "PUT", body: "2" });
  await bucket.put("by-node", "3");
  await control.dns.zone("example.org", [{ type: "A", name: "@", content: "192.0.2.1" }]);
  await control.clock.advance("1d");
  expect(await control.contents("photos")).toEqual({ "by-node": "3", "by-script": "2", kept: "1" });
  await undoRest();
  expect(await control.contents("photos")).toEqual({ kept: "1" });
  await expect(control.dns.records("example.org")).rejects.toThrow(
    'There is no zone "example.org"',
  );
  expect(Math.abs((await control.clock.now()).getTime() - Date.now())).toBeLessThan(3_600_000);
});

it("calls() lists the calls of a script, and faults fail them", async () => {
  await miniflare.dispatchFetch("http://script/a.png", { method: "PUT", body: "photo" });
  const calls = await control.calls();
  expect(calls).toEqual([
    { bucket: "photos", method: "put", key: "a.png", keys: ["a.png"], bytes: 5, outcome: "ok" },
  ]);
  expect(callMatchers.toHavePut(calls, "*.png", { bytes: 5 }).pass).toBe(true);
  await control.faults.drop({ method: "get", afterBytes: 2 });
  const broken = await bucket.get("a.png");
  await expect(broken?.text()).rejects.toThrow("a.png");
  expect(await control.faults.injected()).toEqual([
    {
      bucket: "photos",
      method: "get",
      key: "a.png",
      nth: 1,
      when: "before",
      effect: { kind: "drop", afterBytes: 2 },
    },
  ]);
  await expect(control.faults.fail({ bucket: "other" })).rejects.toThrow("Buckets: photos.");
  await control.faults.clear();
  expect(await (await miniflare.dispatchFetch("http://script/a.png")).text()).toBe("photo");
});

it("seed() fills a bucket from a folder", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "2026"));
  writeFileSync(join(folder, "2026", "a.txt"), "one");
  await control.seed("photos", folder);
  expect(await control.contents("photos", { metadata: true })).toEqual({
    "2026/a.txt": {
      content: "one",
      httpMetadata: { contentType: "text/plain" },
      customMetadata: {},
    },
  });
});

it("dns.sign() signs a zone, and dns.breakSignatures() lasts until the end of the test", async () => {
  const { LEDGE_DNS: binding } = await miniflare.getBindings<{
    LEDGE_DNS: { fetch: typeof fetch };
  }>();
  const signatureOf = async () => {
    const url = "http://dns/dns-query?name=www.example.org&do=1";
    const { Answer } = (await (await binding.fetch(url)).json()) as {
      Answer: { type: number; data: string }[];
    };
    return Answer.find(({ type }) => type === 46)?.data.split(" ") ?? null;
  };
  const now = new Date().toISOString().slice(0, 19).replaceAll(/\D/g, "");
  await control.dns.zone("example.org", [{ type: "A", name: "www", content: "192.0.2.1" }]);
  expect(await signatureOf()).toBeNull();

  const undoRest = await control.isolate();
  expect(await control.dns.sign("example.org")).toMatch(/^example\.org\. 3600 IN DS \d+ 13 2 /);
  expect((await signatureOf())![4]! > now).toBe(true);
  await control.dns.breakSignatures({ kind: "expired_signature", name: "www.example.org" });
  expect((await signatureOf())![4]! > now).toBe(false);
  await control.dns.breakSignatures();
  expect((await signatureOf())![4]! > now).toBe(true);
  await control.dns.breakSignatures({ kind: "expired_signature", zone: "example.org" });
  await undoRest();

  expect(await signatureOf()).toBeNull();
  await control.dns.sign("example.org");
  expect((await signatureOf())![4]! > now).toBe(true);
});

it("dns.rollKeys() rolls the keys of a zone by the clock, until the end of the test", async () => {
  const { dns, clock } = control;
  await dns.zone("example.org", [{ type: "A", name: "www", content: "192.0.2.1" }]);
  const ds = await dns.sign("example.org");
  const keys = async () => (await dns.resolve("example.org", "DNSKEY")).length;
  const undoRest = await control.isolate();
  await dns.rollKeys("example.org");
  expect(await keys()).toBe(4);
  await expect(dns.confirmDs("example.org")).rejects.toThrow("Caches may lack the new key");
  await clock.advance("2h");
  expect(await dns.sign("example.org")).not.toBe(ds);
  await clock.advance("7d");
  expect(await keys()).toBe(4);
  await dns.confirmDs("example.org");
  await clock.advance("24h");
  expect(await keys()).toBe(4);
  await clock.advance("1h");
  expect(await keys()).toBe(2);
  expect(await dns.sign("example.org")).not.toBe(ds);
  await undoRest();

  expect(await keys()).toBe(2);
  expect(await dns.sign("example.org")).toBe(ds);
});

it("dns.faults break queries, and dns.queries() lists them, until the end of the test", async () => {
  const { dns } = control;
  await dns.zone("example.org", [{ type: "A", name: "www", content: "192.0.2.1" }]);
  const undoRest = await control.isolate();
  await dns.faults.servfail({ name: "www.example.org", times: 1 });
  await dns.faults.drop({ name: "gone.example.org" });
  expect(await dns.resolve("www.example.org")).toEqual([]);
  expect(await dns.resolve("www.example.org")).toEqual(["192.0.2.1"]);
  await expect(dns.resolve("gone.example.org")).rejects.toThrow("503");
  expect(await dns.faults.list()).toMatchObject([
    { kind: "servfail", matches: 2, hits: 1 },
    { kind: "drop", matches: 1, hits: 1 },
  ]);
  const queries = await dns.queries();
  expect(queries.map(({ rcode, fault }) => [rcode, fault])).toEqual([
    ["SERVFAIL", "servfail"],
    ["NOERROR", null],
    [null, "drop"],
  ]);
  const asked = queryMatchers.toHaveQueried(queries, "www.example.org", { type: "A", times: 2 });
  expect(asked.pass).toBe(true);
  expect(await control.describeFaults()).toContain(
    "servfail (name www.example.org, times 1): matched 2, hit 1",
  );
  await expect(dns.faults.delay({ by: "2 years" })).rejects.toThrow('"by" is "2 years"');
  await undoRest();

  expect(await dns.faults.list()).toEqual([]);
  expect(await dns.resolve("www.example.org")).toEqual(["192.0.2.1"]);
});

it("dns.resolve() tells apart why an answer has no records", async () => {
  const { dns } = control;
  await dns.zone("example.org", [{ type: "A", name: "www", content: "192.0.2.1" }]);
  await dns.faults.servfail({ name: "broken.example.org" });
  const codes: Record<string, string> = {};
  for (const name of ["gone.example.org", "broken.example.org", "www.example.net"]) {
    const answer = await dns.resolve(name);
    expect(answer).toStrictEqual([]);
    codes[name] = answer.rcode;
  }
  expect(codes).toEqual({
    "gone.example.org": "NXDOMAIN",
    "broken.example.org": "SERVFAIL",
    "www.example.net": "REFUSED",
  });
  expect(await dns.resolve("www.example.org", "MX")).toHaveProperty("rcode", "NOERROR");
  const found = await dns.resolve("www.example.org");
  expect(found).toStrictEqual(["192.0.2.1"]);
  expect(found.rcode).toBe("NOERROR");
});

it("dns.faults hides earlier changes, gives other answers, and refuses what has no effect", async () => {
  const { dns } = control;
  await dns.zone("example.org", [{ type: "A", name: "www", content: "192.0.2.1" }]);
  await dns.add("example.org", { type: "A", name: "new", content: "192.0.2.2" });
  await dns.faults.propagationDelay({ zone: "example.org", by: "1h" });
  const both = () => Promise.all(["www", "new"].map((name) => dns.resolve(`${name}.example.org`)));
  expect(await both()).toEqual([["192.0.2.1"], []]);
  await dns.faults.clear();
  await dns.faults.answer({ name: "www.example.org", type: "A", content: "192.0.2.66" });
  expect(await both()).toEqual([["192.0.2.66"], ["192.0.2.2"]]);
  await expect(dns.faults.drop({ server: "127.0.0.1" })).rejects.toThrow("has no listeners");
  await expect(dns.faults.tcpReset()).rejects.toThrow('"tcp_reset" has no effect here');
});

it("a snapshot keeps the faults and the queries of its test", async () => {
  const { dns } = control;
  await dns.zone("example.org", [{ type: "A", name: "www", content: "192.0.2.1" }]);
  await dns.faults.stale({ zone: "example.org" });
  await control.snapshot();
  await dns.add("example.org", { type: "A", name: "new", content: "192.0.2.2" });
  expect(await dns.resolve("new.example.org")).toEqual([]);
  await control.restore();
  await dns.faults.refused({ name: "www.example.org" });
  expect(await dns.resolve("www.example.org")).toEqual(["192.0.2.1"]);
  expect((await dns.queries()).map(({ fault }) => fault)).toEqual(["stale", "stale"]);
  await dns.faults.clear();
  expect(await dns.faults.list()).toEqual([]);
});
