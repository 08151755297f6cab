/**
 * `ledge store put`, `get`, `import` and `export` beside `cp` on the same disk, and beside aws-cli,
 * where it is installed, with the S3-compatible API.
 *
 * The tools take turns. A row shows the median of the rounds for each tool, and its ratio to `cp`.
 * The store hashes what it stores and what it returns, so `cp` with `md5sum` is a row of its own.
 *
 *     npm run bench -- cli             a file of 1 GiB, and 10,000 files of 4 KiB
 *     npm run bench -- cli --quick     a file of 128 MiB, and 1,000 files
 */
import { randomFillSync } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatTable } from "../src/base/format.ts";
import { startAwsTool } from "./cli/aws-tool.ts";
import { cpTool, ledgeTool, type CopyTool } from "./cli/copy-tools.ts";
import { median } from "./store/measure.ts";
import { Progress } from "./store/progress.ts";

const isQuick = process.argv.includes("--quick");
const mebibytes = isQuick ? 128 : 1024;
const files = isQuick ? 1000 : 10_000;
const rounds = isQuick ? 1 : 3;
const fileBytes = 4096;

const folder = mkdtempSync(join(tmpdir(), "ledge-bench-"));
const tools: CopyTool[] = [];
try {
  tools.push(
    cpTool(join(folder, "cp"), { verified: false }),
    cpTool(join(folder, "cp-md5sum"), { verified: true }),
    ledgeTool(join(folder, "ledge")),
  );
  const aws = await startAwsTool(join(folder, "aws"));
  if (aws === null) console.log("aws-cli is not installed, so it is not measured.");
  else tools.push(aws);
  const [file, source] = [join(folder, "large"), join(folder, "small")];
  writeLargeFile(file);
  writeSmallFiles(source);
  const target = join(folder, "target");
  const steps: [name: string, act: (tool: CopyTool) => void][] = [
    ["list nothing", (tool) => tool.start()],
    [`put ${mebibytes} MiB`, (tool) => tool.put(file)],
    [`get ${mebibytes} MiB`, (tool) => tool.get(target)],
    [`import ${files} files`, (tool) => tool.import(source)],
    [`export ${files} files`, (tool) => tool.export(target)],
  ];
  const times = steps.map(() => tools.map((): number[] => []));
  const progress = new Progress(rounds * steps.length * tools.length);
  for (let round = 0; round < rounds; round++) {
    for (const tool of tools) tool.forget();
    for (const [step, [name, act]] of steps.entries()) {
      for (const [index, tool] of tools.entries()) {
        progress.step(`${name}, ${tool.name}`);
        rmSync(target, { recursive: true, force: true });
        const start = performance.now();
        act(tool);
        times[step]?.[index]?.push((performance.now() - start) / 1000);
      }
    }
  }
  progress.end();
  const rows = steps.map(([name], step) => {
    const medians = tools.map((_, index) => median(times[step]?.[index] as number[]));
    const ratios = medians.slice(1).map((time) => `${(time / (medians[0] as number)).toFixed(1)}×`);
    return [name, ...medians.map((time) => `${time.toFixed(2)} s`), ...ratios];
  });
  const header = ["", ...tools.map(({ name }) => name)];
  const ratioHeader = tools.slice(1).map(({ name }) => `${name} / ${tools[0]?.name}`);
  console.log(formatTable([[...header, ...ratioHeader], ...rows]));
} finally {
  for (const tool of tools) tool.end?.();
  rmSync(folder, { recursive: true, force: true });
}

function writeLargeFile(path: string): void {
  const bytes = Buffer.alloc(1024 * 1024);
  const descriptor = openSync(path, "w");
  for (let n = 0; n < mebibytes; n++) writeSync(descriptor, randomFillSync(bytes));
  closeSync(descriptor);
}

function writeSmallFiles(path: string): void {
  for (let n = 0; n < files; n++) {
    const inside = join(path, String(n % 100));
    if (n < 100) mkdirSync(inside, { recursive: true });
    writeFileSync(join(inside, `${n}.bin`), randomFillSync(Buffer.alloc(fileBytes)));
  }
}
