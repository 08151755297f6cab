/**
 * The same tests with the isolation of Ledge and on the pool alone: tests that touch nothing, that read and that
 * write KV, D1 and a Durable Object; the last also with `reset()` and new seeds for each test. And tests on a bucket
 * of Ledge against tests on the pool's R2 with `reset()` after each.
 */
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { ledge } from "ledge/vitest";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

const kinds = ["trivial", "reading", "writing"];
const wrangler = { configPath: "bindings/wrangler.jsonc" };

const project = (
  name: string,
  file: string,
  plugins: TestProjectInlineConfiguration["plugins"],
  isClean = true,
): TestProjectInlineConfiguration => ({
  define: { TESTS: process.env["TESTS"] ?? "1000", IS_CLEAN: String(isClean) },
  plugins,
  test: {
    name,
    include: [`${file}.test.ts`],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: true,
  },
});

export default defineConfig({
  test: {
    projects: [
      ...kinds.flatMap((kind) => [
        project(`ledge-${kind}`, `bindings/${kind}`, [ledge(wrangler)]),
        project(`stock-${kind}`, `bindings/${kind}`, [cloudflareTest({ wrangler })], false),
      ]),
      project("reset", "bindings/reset", [cloudflareTest({ wrangler })]),
      project("large-database", "bindings/large-database", [ledge(wrangler)]),
      project("store", "test/store", [ledge()]),
      project("many", "test/many", [ledge()]),
      project("r2", "test/r2", [
        cloudflareTest({ miniflare: { compatibilityDate: "2026-08-01", r2Buckets: { R2: "r2" } } }),
      ]),
    ],
  },
});
