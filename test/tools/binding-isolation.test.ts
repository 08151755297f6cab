/** Runs `fixtures/bindings` in 2 orders, and without isolation; `npm run test:orders` runs 50 orders. */
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runVitest } from "./support/packed-project.ts";

const fixture = fileURLToPath(new URL("fixtures/bindings", import.meta.url));

it("a test sees nothing that another test did to any binding, in any order", async () => {
  const { status, output } = await runVitest(fixture, [], { SEEDS: "2" });
  expect(output).not.toContain("FAIL");
  expect(output).toMatch(/Tests +236 passed \| 2 expected fail \| 2 skipped/);
  expect(output.match(/\d+ databases are intact/g)).toHaveLength(4);
  expect(status).toBe(0);
});

it("the same tests fail without isolation", async () => {
  const { status, output } = await runVitest(fixture, ["--reporter=json", "leaks"], {
    ISOLATE: "no",
  });
  const start = output.indexOf('{"numTotalTestSuites"');
  const report = JSON.parse(output.slice(start, output.lastIndexOf("}") + 1)) as {
    testResults: {
      assertionResults: { ancestorTitles: string[]; title: string; status: string }[];
    }[];
  };
  const results = report.testResults.flatMap((file) => file.assertionResults);
  // The first test of each kind sees the seeds, and the second what the first has left.
  const seconds = results.filter(({ title }) => title === "second");
  expect(seconds.length).toBeGreaterThan(15);
  expect(seconds.filter(({ status: result }) => result !== "failed")).toEqual([]);
  expect(status).toBe(1);
});
