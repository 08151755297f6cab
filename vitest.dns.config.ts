import { defineConfig } from "vitest/config";

/** Tests of the companion worker: rules in Node, the whole of it in workerd. */
export default defineConfig({
  test: {
    include: ["worker/**/*.test.ts", "test/dns/**/*.test.ts"],
    globalSetup: ["test/dns/support/bundle.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
