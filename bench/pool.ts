/**
 * Tests in the vitest pool: isolated tests on a bucket against the same tests on the pool's R2 with
 * `reset()` after each, and 200 tests on an empty bucket against 200 on a bucket of 100,000 objects.
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
