import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";

/** `test/dev/keys.test.ts` needs `script` of util-linux: other systems have other versions or none. */
const hasTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

// The tests start hundreds of processes, which load the same modules: Node compiles each once.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("node_modules/.cache/node", import.meta.url),
);

// Miniflare gives each certificate of this file to each runtime, which doubles the time of a start if the
// file is a system's list of authorities. No test reaches a server outside this machine.
delete process.env["NODE_EXTRA_CA_CERTS"];

/** Node loads TypeScript itself, and faster than vite does. */
const experimental = { viteModuleRunner: false };

export default defineConfig({
  test: {
    // More than the cores, because most tests wait for runtimes that they have started.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      // Tests of pure functions need no isolation, and isolation would take longer than the tests.
      {
        test: {
          name: "unit",
          experimental,
          include: ["src/**/*.test.ts", "worker/**/*.test.ts"],
          isolate: false,
          pool: "threads",
          // Property tests run hundreds of cases, which takes long on a busy machine.
          testTimeout: 60_000,
        },
      },
      "./test/store/conformance/vitest.workerd.config.ts",
      "./test/store/conformance/remote/vitest.workerd.config.ts",
      // Each example is a separate project, like the project of a user.
      "./examples/*/vitest.config.ts",
      // One project, because each project has workers of its own, which load the same modules again.
      {
        test: {
          name: "integration",
          experimental,
          include: ["test/{store,s3,dns,dev,cli,explorer,faults,docs}/*.test.ts"],
          // Tests share no state, and a process for each file would load the same modules again.
          isolate: false,
          exclude: [...configDefaults.exclude, ...(hasTerminal ? [] : ["test/dev/keys.test.ts"])],
          // Runtimes start and stop slowly on a busy machine, and some tests start many.
          testTimeout: 180_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
    ],
  },
});
