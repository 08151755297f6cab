/** Watch mode: vitest runs a changed test again on the same runtime, and reads a changed configuration again. */
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

const configured = {
  "vitest.config.ts": `
    import { ledge } from "ledge/vitest";
    import { defineConfig } from "vitest/config";
    export default defineConfig({ plugins: [ledge()] });`,
  "bindings.test.ts": `
    import { env, exports } from "cloudflare:workers";
    import { it } from "vitest";
    it("shows the bindings", async () => {
      const { GREETING, SECRET } = env;
      const names = Object.keys(env).filter((name) => /^(PHOTOS|FILMS|KV)$/.test(name)).toSorted();
      const script = await exports.default.fetch("http://example.org/").then((it) => it.text());
      console.log(JSON.stringify({ GREETING, SECRET, names, script }));
    });`,
  "one.js": `export default { fetch: () => new Response("script one") };`,
  "two.js": `export default { fetch: () => new Response("script two") };`,
};

it("a changed configuration file applies to the next run", async () => {
  const table = {
    name: "watched",
    main: "one.js",
    compatibility_date: "2026-08-01",
    vars: { GREETING: "one" },
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  };
  const project = makeProject({ ...configured, "wrangler.jsonc": JSON.stringify(table) });
  const vitest = startVitest(project.folder, ["--watch"]);
  await vitest.waitForOutput("Waiting for file changes", 1);
  expect(vitest.output()).toContain('{"GREETING":"one","names":["PHOTOS"],"script":"script one"}');

  const changed = {
    ...table,
    main: "two.js",
    vars: { GREETING: "two" },
    kv_namespaces: [{ binding: "KV", id: "kv" }],
    store_buckets: [{ binding: "FILMS", bucket_name: "films" }],
  };
  project.write("wrangler.jsonc", JSON.stringify(changed));
  await vitest.waitForOutput("Waiting for file changes", 2);
  const second = '"names":["FILMS","KV"],"script":"script two"}';
  expect(vitest.output()).toContain(`{"GREETING":"two",${second}`);

  project.write(".dev.vars", "SECRET=three");
  await vitest.waitForOutput("Waiting for file changes", 3);
  expect(vitest.output()).toContain(`{"GREETING":"two","SECRET":"three",${second}`);

  project.write(
    "wrangler.jsonc",
    '{\n  "name": "watched",\n  "store_buckets": [{ "bindin": "X" }]\n}',
  );
  await vitest.waitForOutput("wrangler.jsonc:3:");
  await vitest.waitForOutput("The tests run again when the file has no mistake.");
  project.write("wrangler.jsonc", JSON.stringify({ ...changed, vars: { GREETING: "mended" } }));
  await vitest.waitForOutput("Waiting for file changes", 4);
  expect(vitest.output()).toContain(`{"GREETING":"mended","SECRET":"three",${second}`);
  expect(vitest.output()).not.toContain("failed");

  vitest.process.kill("SIGINT");
  await vitest.ended;
  expect(readdirSync(project.folder).filter((name) => name.startsWith(".ledge"))).toEqual([]);
});
