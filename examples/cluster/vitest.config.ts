import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "example-cluster",
    include: ["test/*.test.ts"],
    // Node loads TypeScript itself.
    experimental: { viteModuleRunner: false },
    // The tests build the script and start several processes.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
