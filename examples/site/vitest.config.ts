import { defineConfig } from "vitest/config";
import { ledge } from "../ledge-vitest.ts";

export default defineConfig({
  plugins: [ledge({ folder: import.meta.dirname })],
  test: { name: "site", include: ["test/*.test.ts"] },
});
