/**
 * Tests in the vitest pool: isolated tests on a bucket against the same tests on the pool's R2 with
 * `reset()` after each, and 200 tests on an empty bucket against 200 on a bucket of 100,000 objects. Then the
 * same for KV, D1 and Durable Objects: `reset()` and new seeds for each test, and no isolation at all.
 *
 *     npm run bench -- pool [--tests 1000]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "./store/measure.ts";

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly startTime: number;
      readonly duration: number;
      readonly status: string;
    }[];
  }[];
}

const { values } = parseArgs({ options: { tests: { type: "string", default: "1000" } } });

// The projects run one after the other, because concurrent runs would slow each other down.
const [store, r2] = ["store", "r2"].map((project) => {
  const { testResults } = run("./pool", { TESTS: values.tests }, [`--project=${project}`]);
  const [file] = testResults;
  return file === undefined ? NaN : file.endTime - file.startTime;
}) as [number, number];
console.log(`${values.tests} tests that put and read 10 objects, milliseconds`);
console.log(`  isolated, on a bucket        ${store.toFixed(0).padStart(8)}`);
console.log(`  reset(), on the pool's R2    ${r2.toFixed(0).padStart(8)}`);
console.log(`  ${(r2 / store).toFixed(1)} times as fast`);

const manyTests = run("../test/tools/fixtures/many", {});
console.log("\n200 tests that write, milliseconds");
for (const block of ["none", "100,000", "none again"]) {
  const durations = manyTests.testResults
    .flatMap((file) => file.assertionResults)
    .filter(({ ancestorTitles }) => ancestorTitles[0] === block)
    .map(({ duration }) => duration);
  const sum = durations.reduce((total, duration) => total + duration, 0);
  console.log(
    `  seeded objects: ${block.padEnd(12)} ${sum.toFixed(0).padStart(8)}, median ${median(durations).toFixed(1)}`,
  );
}

console.log(`\n${values.tests} tests, milliseconds from test to test (median, 95th percentile)`);
for (const [project, text] of [
  ["isolated", "write to KV, D1 and a Durable Object, isolated"],
  ["reset", "the same, reset() and new seeds for each test"],
  ["leaking", "the same, without isolation"],
  ["nothing", "touch nothing, isolated"],
  ["stock nothing", "touch nothing, without isolation"],
] as const) {
  const { testResults } = run("./pool", { TESTS: values.tests }, [`--project=${project}`]);
  printIntervals(
    text,
    testResults.flatMap((file) => file.assertionResults),
  );
}

const largeDatabase = run("./pool", {}, ["--project=large-database"]).testResults.flatMap(
  (file) => file.assertionResults,
);
console.log("\n200 tests that write a row to D1, milliseconds from test to test");
for (const block of ["none", "100 MB", "none again"]) {
  const tests = largeDatabase.filter(({ ancestorTitles }) => ancestorTitles[0] === block);
  printIntervals(`seeded: ${block}`, tests);
}

/** From the start of a test to the start of the next: with what isolation does in between. */
function printIntervals(text: string, tests: readonly { readonly startTime: number }[]): void {
  const starts = tests.map(({ startTime }) => startTime).toSorted((one, other) => one - other);
  const intervals = starts.slice(1).map((start, index) => start - (starts[index] as number));
  const high = intervals.toSorted((one, other) => one - other)[Math.floor(intervals.length * 0.95)];
  console.log(
    `  ${text.padEnd(50)} ${median(intervals).toFixed(1).padStart(8)} ${high?.toFixed(1).padStart(8)}`,
  );
}

function run(
  folder: string,
  env: Record<string, string>,
  args: readonly string[] = [],
): VitestReport {
  const work = mkdtempSync(join(tmpdir(), "ledge-bench-"));
  try {
    const report = join(work, "report.json");
    const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
    const options = ["--reporter=json", `--outputFile=${report}`, ...args];
    spawnSync(process.execPath, [vitest, "run", ...options], {
      cwd: fileURLToPath(new URL(folder, import.meta.url)),
      env: { ...process.env, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const result = JSON.parse(readFileSync(report, "utf8")) as VitestReport;
    const failed = result.testResults
      .flatMap((file) => file.assertionResults)
      .filter(({ status }) => status !== "passed");
    if (failed.length > 0) throw new Error(`${failed.length} tests of ${folder} failed`);
    return result;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
