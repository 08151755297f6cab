import { ledge } from "ledge/vitest";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [ledge({ configPath: `${import.meta.dirname}/wrangler.jsonc` })],
  test: { name: "example-faults" },
});
