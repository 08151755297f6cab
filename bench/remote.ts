/**
 * Buckets on an S3 service: operations of the binding in workerd beside the same operations by the AWS SDK, on the
 * same service, in turns.
 *
 *     npm run bench -- remote             all rows, and the throughput of 1 and of 2 processes
 *     npm run bench -- remote --quick     fewer and shorter turns
 *     npm run bench -- remote --own       on our own S3-compatible API, also if Ceph is installed
 *     npm run bench -- remote --only get  the rows whose name contains "get", without the throughput
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatTable } from "../src/base/format.ts";
import { measureRow, measureThroughput } from "./remote/measure.ts";
import { rows, throughputOperations, type Row } from "./remote/rows.ts";
import { startService, type BenchService } from "./remote/service.ts";
import { startBinding, startSdk, type Side } from "./remote/sides.ts";
import { describeAim } from "./s3/table.ts";
import { Progress } from "./store/progress.ts";
import { formatTime } from "./store/table.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    own: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
const effort = values.quick
  ? { turnMilliseconds: 200, rounds: 3 }
  : { turnMilliseconds: 500, rounds: 9 };
const chosen = rows.filter(({ name }) => name.includes(values.only ?? ""));
const header = ["", "binding", "SDK", "binding / SDK", "aim"];
const folder = mkdtempSync(join(tmpdir(), "ledge-bench-"));
const running: { stop(): Promise<void> }[] = [];
try {
  const service = await startService(folder, values.own);
  running.push(service);
  console.log(`The service is ${service.description}. Medians of ${effort.rounds} turns each.\n`);
  const pairs = await startSides(service);
  console.log(formatTable([header, ...(await measureRows(pairs.map(([first]) => first)))]));
  if (values.only === undefined) console.log(`\n${formatTable(await measureGrowth(pairs))}`);
} finally {
  for (const each of running.toReversed()) await each.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Two processes of each side. */
async function startSides({
  endpoint,
  accessKeyId,
  secretAccessKey,
  bucketName,
}: BenchService): Promise<[Side, Side][]> {
  const service = { endpoint, accessKeyId, secretAccessKey, bucketName };
  return [
    [
      await kept(startBinding(service, folder, "first")),
      await kept(startBinding(service, folder, "second")),
    ],
    [await kept(startSdk(service)), await kept(startSdk(service))],
  ];
}

/** A side that is stopped at the end. */
async function kept(starting: Promise<Side>): Promise<Side> {
  const side = await starting;
  running.push(side);
  return side;
}

async function measureRows(sides: readonly Side[]): Promise<string[][]> {
  const progress = new Progress(chosen.length);
  const results: string[][] = [];
  for (const row of chosen) {
    progress.step(row.name);
    results.push(describeRow(row, await measureRow(row, sides, effort)));
  }
  progress.end();
  return results;
}

function describeRow(
  { name, aim }: Row,
  { binding, sdk }: Readonly<Record<"binding" | "sdk", number>>,
): string[] {
  const ratio = binding / sdk;
  const reached = describeAim(aim, (limit) => ratio <= limit, "≤");
  return [name, formatTime(binding), formatTime(sdk), ratio.toFixed(2), reached];
}

async function measureGrowth(pairs: readonly [Side, Side][]): Promise<string[][]> {
  const results: string[][] = [
    ["32 at once in each process", "1 process", "2 processes", "growth"],
  ];
  for (const [name, operation] of Object.entries(throughputOperations)) {
    for (const pair of pairs) {
      const one = await measureThroughput(pair.slice(0, 1), operation, effort);
      const two = await measureThroughput(pair, operation, effort);
      results.push([
        `${name}, ${pair[0].name}`,
        `${Math.round(one)} /s`,
        `${Math.round(two)} /s`,
        (two / one).toFixed(2),
      ]);
    }
  }
  return results;
}
