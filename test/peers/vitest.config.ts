import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "peers",
    include: ["test/peers/**/*.test.ts"],
    // Several servers and thousands of queries share two cores.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
});
