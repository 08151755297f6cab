/** The same tests twice: on a bucket of Ledge, and on the pool's R2 with `reset()` after each. */
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { ledge } from "ledge/vitest";
import { defineConfig } from "vitest/config";

const testCount = process.env["TESTS"] ?? "1000";
const test = { testTimeout: 60_000, hookTimeout: 60_000, isolate: true };

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
    ],
  },
});
