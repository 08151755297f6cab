/** How `foreign.ts` changes a configuration and compares two runs. */
import { expect, it } from "vitest";
import { compareResults, readResults, withLedge, withPool } from "./support/foreign-results.ts";

it("withLedge() replaces the plugin, and leaves other imports of the pool", () => {
  const config = `import {
  cloudflareTest,
  readD1Migrations,
} from "@cloudflare/vitest-plugin";`;
  const edited = withLedge(withPool(config, "@cloudflare/vitest-pool-workers"));
  expect(edited?.replaceAll(/\s+/g, " ")).toBe(
    'import { readD1Migrations, } from "@cloudflare/vitest-pool-workers"; ' +
      'import { ledge as cloudflareTest } from "ledge/vitest";',
  );
  expect(withLedge('import { defineConfig } from "vitest/config";')).toBeNull();
});

const test = (fullName: string, status: string) => ({
  fullName,
  status,
  failureMessages: status === "failed" ? [`${fullName} failed`] : [],
});
const report = (...tests: ReturnType<typeof test>[]): string =>
  JSON.stringify({
    testResults: [
      { name: "/project/a.test.ts", status: "passed", message: "", assertionResults: tests },
    ],
  });
const read = (json: string | null, error: string | null = null) =>
  readResults(json, "/project", error, 1);

it("compareResults() tells tests of one name apart, and reports tests that are missing", () => {
  const stock = read(
    report(test("gets", "passed"), test("gets", "passed"), test("puts", "failed")),
  );
  const ours = read(report(test("gets", "passed"), test("gets", "failed")));
  expect(compareResults(stock, ours)).toEqual([
    { test: "a.test.ts > gets (2)", stock: "passed", ours: "failed", message: "gets failed" },
    { test: "a.test.ts > puts", stock: "failed", ours: "missing", message: "puts failed" },
  ]);
  expect(compareResults(stock, stock)).toEqual([]);
});

it("compareResults() reports a run that fails though its tests pass, and a run without tests", () => {
  const stock = read(report(test("gets", "passed")));
  expect(compareResults(stock, read(report(test("gets", "passed")), "Unhandled error"))).toEqual([
    { test: "the run", stock: "missing", ours: "failed", message: "Unhandled error" },
  ]);
  expect(compareResults(stock, read(null, "No configuration"))).toHaveLength(2);
});
