import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "browser",
    include: ["test/browser/**/*.test.ts"],
    // Node loads the modules, as in `ledge dev`: vite would load those twice that wrangler loads too.
    experimental: { viteModuleRunner: false },
    // Pages and runtimes share two cores.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    fileParallelism: false,
  },
});
