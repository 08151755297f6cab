/** Runs `fixtures/reports`: calls of other workers, and what a failing test says and shows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { runVitest } from "./support/packed-project.ts";

const fixture = fileURLToPath(new URL("fixtures/reports", import.meta.url));

it("a failing test lists its faults and what it misses, and the warning of a late call names the test", async () => {
  const { output } = await runVitest(fixture, ["reports.test"]);
  expect(output).toMatch(/Tests +2 failed \| 7 passed/);
  expect(output).toContain(
    'put of "late" in "photos" arrived after "reports > a late call" had ended, and was not executed.',
  );
  expect(output).toContain(
    [
      "Injected faults:",
      '  put of "a" in "photos" failed with 10058 (call 1 that the fault matches)',
      '  match of "http://cached/a" in caches took 1 ms longer (call 1 that the fault matches)',
      "",
      "Faults that hit no call:",
      '  faults.fail({ bucket: "photos", method: "get", key: /^x/ }): no call matches',
      '  faults.slow({ method: "head", nth: 3, by: "1s" }): 1 call matches, none was hit',
      '  faults.drop({ binding: "caches", method: "put" }): no call matches',
    ].join("\n"),
  );
  expect(output).toContain(
    [
      "This test uses what earlier tests wrote, and Ledge undid these writes:",
      '  get of "dependent" in "photos", after put of "dependent" in "photos" by "dependent tests > a test that writes"',
      "If the test needs them, write them in the test or in a hook, or keep the writes of all tests with ledge({ isolate: false }).",
    ].join("\n"),
  );
});

it("a failure shows the line of the test, not a line of this package", async () => {
  const { output } = await runVitest(fixture, ["frames"]);
  const lines = readFileSync(join(fixture, "test/frames.test.ts"), "utf8").split("\n");
  const marked = lines.flatMap((line, index) => (line.endsWith("// mark") ? [index + 1] : []));
  const shown = output.matchAll(/^ ❯ (\S+):(\d+):\d+\n +\d+\|/gm);
  expect(Array.from(shown, ([, file, line]) => [file, Number(line)])).toEqual(
    marked.map((line) => ["test/frames.test.ts", line]),
  );
});

function report(name: string, ...lines: string[]): string {
  const indented = lines.map((line) => `  ${line}\n`).join("");
  return `"${name}" has faults that hit no call:\n${indented}Correct or remove them.`;
}

const unusedReports = [
  report(
    "every kind",
    'faults.fail({ bucket: "photos", method: "get" }): no call matches',
    'faults.slow({ method: "head", nth: 3, by: 1 }): 1 call matches, none was hit',
    'faults.drop({ binding: "caches", method: "put" }): no call matches',
    "servfail (name www.example.org): matched 0, hit 0",
  ),
  report(
    "a block whose fault is never used",
    'faults.slow({ method: "list", by: 1 }): no call matches',
  ),
];

it("a fault that hit no call gives a warning when its test passes", async () => {
  const { status, output } = await runVitest(fixture, ["unused"]);
  for (const text of unusedReports) expect(output).toContain(text);
  expect(output.split("has faults that hit no call")).toHaveLength(3);
  expect(output).toMatch(/Tests +6 passed \| 1 skipped/);
  expect(status).toBe(0);
});

it("a fault that hit no call makes its test or block fail, or nothing, as the project wants", async () => {
  const failing = await runVitest(fixture, ["unused"], { UNUSED: "error" });
  for (const text of unusedReports) expect(failing.output).toContain(`Error: ${text}`);
  expect(failing.output).toMatch(/Tests +1 failed \| 5 passed \| 1 skipped/);
  expect(failing.output).toContain("FAIL  test/unused.test.ts > a block whose fault is never used");
  expect(failing.status).toBe(1);
  const silent = await runVitest(fixture, ["unused"], { UNUSED: "ignore" });
  expect(silent.output).not.toContain("hit no call");
  const wrong = await runVitest(fixture, ["unused"], { UNUSED: "fail" });
  expect(wrong.output).toContain("faults.unused must be one of warn, error, ignore.");
});
