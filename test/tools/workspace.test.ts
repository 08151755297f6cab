/** A vitest workspace: the plugin of each project reads the configuration of that project. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeProject, runVitest } from "./support/packed-project.ts";

const wranglerTable = (name: string, more: object = {}) =>
  JSON.stringify({
    name,
    main: "src/index.ts",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "FILES", bucket_name: `${name}-files` }],
    ...more,
  });

const script = (name: string) =>
  `export default { async fetch(request, env) {
     await env.FILES.put("seen", "${name}");
     return new Response("${name}");
   } };`;

const test = (name: string) => `
  import { SELF } from "cloudflare:test";
  import { calls } from "ledge/test";
  import { expect, it } from "vitest";
  it("tests ${name}", async () => {
    expect(await (await SELF.fetch("http://example.com/")).text()).toBe("${name}");
    expect(calls).toHavePut("seen", { bucket: "${name}-files" });
  });`;

const config = (options: string) => `
  import { ledge } from "ledge/vitest";
  import { defineConfig } from "vitest/config";
  export default defineConfig({ plugins: [ledge(${options})] });`;

it("each project tests its own script", async () => {
  const project = makeProject({
    "wrangler.jsonc": wranglerTable("root"),
    "src/index.ts": script("root"),
    "vitest.config.ts": `
      import { defineConfig } from "vitest/config";
      export default defineConfig({ test: { projects: ["packages/*"] } });`,

    "packages/nearest/vitest.config.ts": config(""),
    "packages/nearest/wrangler.jsonc": wranglerTable("nearest"),
    "packages/nearest/src/index.ts": script("nearest"),
    "packages/nearest/index.test.ts": test("nearest"),

    "packages/relative/vitest.config.ts": config(`{ configPath: "config/wrangler.jsonc" }`),
    "packages/relative/config/wrangler.jsonc": wranglerTable("relative", {
      main: "../src/index.ts",
    }),
    "packages/relative/src/index.ts": script("relative"),
    "packages/relative/index.test.ts": test("relative"),

    "packages/function/vitest.config.ts": config(`async () => ({
      wrangler: { configPath: "./other.jsonc" },
    })`),
    "packages/function/other.jsonc": wranglerTable("function"),
    "packages/function/src/index.ts": script("function"),
    "packages/function/index.test.ts": test("function"),
  });
  const { status, output } = await runVitest(project.folder);
  expect(output).toContain("3 passed");
  expect(status).toBe(0);
  for (const name of ["nearest", "relative/config", "function"]) {
    const files = readdirSync(join(project.folder, "packages", name));
    expect(files.filter((file) => file.startsWith(".ledge"))).toEqual([]);
  }
});
