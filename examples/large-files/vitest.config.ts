import { defineConfig } from "vitest/config";
import { ledge } from "../ledge-vitest.ts";

export default defineConfig({
  plugins: [ledge({ folder: import.meta.dirname })],
  test: { name: "large-files", include: ["test/*.test.ts"], testTimeout: 30_000 },
});
