/** `testControl()`: the test API for tests in Node. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import {
  callMatchers,
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
