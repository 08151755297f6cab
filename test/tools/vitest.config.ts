/** `npm run test:tools`: projects that use the package through other tools, as their users do. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// The tools are large: Node compiles each once for all processes.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("../../node_modules/.cache/node", import.meta.url),
);

export default defineConfig({
  test: {
    name: "tools",
    include: ["test/tools/*.test.ts"],
    // A project's tests need a core and more: several at once would only wait for each other.
    maxWorkers: 2,
    // Tools start slowly on a busy machine, and some tests start many.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
