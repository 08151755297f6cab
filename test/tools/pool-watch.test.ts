/** Watch mode: vitest runs a changed test again on the same runtime. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { makeProject, startVitest } from "./support/packed-project.ts";

const test = (name: string) => `
  import { env } from "cloudflare:workers";
  import { contents, dns } from "ledge/test";
  import { expect, it } from "vitest";

  // A global of the isolate, which a new runtime would not have.
  globalThis.runs = (globalThis.runs ?? 0) + 1;
  await env.PHOTOS.put("while loading", "x");

  it("${name}", async () => {
    console.log("${name} in run " + globalThis.runs);
    expect(Object.keys(await contents(env.PHOTOS))).toEqual(["while loading"]);
    expect(await env.KV.get("left")).toBe(null);
    await expect(dns.records("example.org")).rejects.toThrow("There is no zone");
    await env.KV.put("left", "x");
    await env.PHOTOS.put("left", "x");
    await dns.zone("example.org");
  });`;

it("a changed test runs on the same runtime, without state of the previous run", async () => {
  const project = makeProject({
    "wrangler.jsonc": JSON.stringify({
      name: "watched",
      compatibility_date: "2026-08-01",
      kv_namespaces: [{ binding: "KV", id: "kv" }],
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
    }),
    "vitest.config.ts": `
      import { ledge } from "ledge/vitest";
      import { defineConfig } from "vitest/config";
      export default defineConfig({ plugins: [ledge()] });`,
    "photos.test.ts": test("first"),
  });
  const vitest = startVitest(project.folder, ["--watch"]);
  await vitest.waitForOutput("Waiting for file changes", 1);
  expect(vitest.output()).toContain("first in run 1");
  expect(vitest.output()).toContain("1 passed");
  project.write("photos.test.ts", test("second"));
  await vitest.waitForOutput("Waiting for file changes", 2);
  expect(vitest.output()).toContain("second in run 2");
  expect(vitest.output()).not.toContain("failed");
  project.write("photos.test.ts", test("third"));
  await vitest.waitForOutput("Waiting for file changes", 3);
  expect(vitest.output()).toContain("third in run 3");
  expect(vitest.output()).not.toContain("failed");
  vitest.process.kill("SIGINT");
  await vitest.ended;
  expect(readdirSync(project.folder).filter((name) => name.startsWith(".ledge"))).toEqual([]);
});
