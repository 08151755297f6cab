import { defineConfig } from "vitest/config";
import { ledge } from "../ledge-vitest.ts";

export default defineConfig({
  plugins: [ledge({ configPath: `${import.meta.dirname}/wrangler.jsonc` })],
  test: {
    name: "dynamic-dns",
    include: ["test/*.test.ts"],
    // Machines have other things to do.
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
