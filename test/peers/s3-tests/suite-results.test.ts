import { expect, it } from "vitest";
import { parseReport, unexpectedResults } from "./suite-results.ts";

const report = `<testsuites><testsuite>
  <testcase classname="s" name="test_a" time="1" />
  <testcase classname="s" name="test_b[1]" time="1"><failure message="a &gt; b">text</failure></testcase>
  <testcase classname="s" name="test_c" time="1"><skipped message="m"/></testcase>
  <testcase classname="s" name="test_d" time="1"><error message="m">text</error></testcase>
</testsuite></testsuites>`;

it("parseReport() reads what passed, failed and was skipped", () => {
  expect(parseReport(report)).toEqual({
    passed: ["test_a"],
    failed: ["test_b[1]", "test_d"],
    skipped: ["test_c"],
  });
});

it("unexpectedResults() names failures, passes and tests that did not run", () => {
  const fails = [{ reason: "r", tests: ["test_a*", "test_d", "test_gone"] }];
  expect(unexpectedResults(parseReport(report), { leftOut: [], fails })).toEqual([
    "test_b[1] failed.",
    "test_a passed: remove it from expectations.json.",
    "test_gone did not run: the suite has no such test, or it is left out.",
  ]);
});
