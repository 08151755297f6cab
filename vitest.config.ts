import { existsSync } from "node:fs";
import { configDefaults, defineConfig } from "vitest/config";

/** `script` of util-linux, which other systems have in another form or not at all. */
const hasTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

export default defineConfig({
  test: {
    // One core is not left idle: most tests wait for runtimes that they have started.
    maxWorkers: "100%",
    projects: [
      // Pure functions need no walls between their tests, and building walls takes longer than they.
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "worker/**/*.test.ts"],
          isolate: false,
          pool: "threads",
          // Properties try hundreds of cases, on machines that have other things to do.
          testTimeout: 60_000,
        },
      },
      "./test/store/conformance/vitest.workerd.config.ts",
      // Each example is a project of its own, as one that uses Ledge would be.
      "./examples/*/vitest.config.ts",
      ...["store", "dns", "dev", "cli", "docs"].map((subject) => ({
        test: {
          name: subject,
          include: [`test/${subject}/*.test.ts`],
          exclude: [...configDefaults.exclude, ...(hasTerminal ? [] : ["test/dev/keys.test.ts"])],
          // Runtimes start and stop here, on machines that have other things to do.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      })),
      {
        test: {
          name: "tools",
          include: ["test/tools/*.test.ts"],
          // Some start vitest, which starts runtimes.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
