/**
 * The same tests on a bucket of Ledge and on the pool's R2 with `reset()` after each; and tests on KV, D1 and
 * Durable Objects with the isolation of Ledge, with `reset()` and new seeds for each test, and with neither.
 */
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { ledge } from "ledge/vitest";
import { defineConfig } from "vitest/config";

const testCount = process.env["TESTS"] ?? "1000";
const test = { testTimeout: 60_000, hookTimeout: 60_000, isolate: true };

const configPath = "bindings/wrangler.jsonc";

const ours = (name: string, file: string) => ({
  define: { testCount },
  plugins: [ledge({ configPath })],
  test: { ...test, name, include: [`bindings/${file}.test.ts`] },
});
const stock = (name: string, file: string) => ({
  define: { testCount },
  plugins: [cloudflareTest({ wrangler: { configPath } })],
  test: { ...test, name, include: [`bindings/${file}.test.ts`] },
});

export default defineConfig({
  test: {
    projects: [
      {
        define: { testCount },
        plugins: [ledge()],
        test: { ...test, name: "store", include: ["test/store.test.ts"] },
      },
      {
        define: { testCount },
        plugins: [
          cloudflareTest({
            miniflare: { compatibilityDate: "2026-08-01", r2Buckets: { R2: "r2" } },
          }),
        ],
        test: { ...test, name: "r2", include: ["test/r2.test.ts"] },
      },
      ours("isolated", "isolated"),
      stock("reset", "reset"),
      stock("leaking", "leaking"),
      ours("nothing", "nothing"),
      stock("stock nothing", "nothing"),
      ours("large-database", "large-database"),
    ],
  },
});
