import { ledge } from "ledge/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [ledge({ configPath: `${import.meta.dirname}/wrangler.jsonc` })],
  test: {
    name: "example-vite",
    include: ["test/*.test.ts"],
    // Runtimes start slowly on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
