/** The same tests twice: on a bucket of ours, and on the pool's R2 with its `reset()` in between. */
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { ledge } from "ledge/vitest";
import { defineConfig } from "vitest/config";

const tests = process.env["TESTS"] ?? "1000";
const test = { testTimeout: 60_000, hookTimeout: 60_000, isolate: true };

export default defineConfig({
  test: {
    projects: [
      {
        define: { TESTS: tests },
        plugins: [ledge()],
        test: { ...test, name: "store", include: ["test/store.test.ts"] },
      },
      {
        define: { TESTS: tests },
        plugins: [
          cloudflareTest({
            miniflare: { compatibilityDate: "2026-08-01", r2Buckets: { R2: "r2" } },
          }),
        ],
        test: { ...test, name: "r2", include: ["test/r2.test.ts"] },
      },
    ],
  },
});
