/**
 * The S3-compatible API beside Miniflare's, beside s3rver where it is installed, and beside a plain HTTP
 * server that stores nothing. One client sends the same requests to all of them, in turns.
 *
 *     npm run bench -- s3             all rows, and the memory of 1 GiB up and down
 *     npm run bench -- s3 --quick     fewer and shorter turns, and the memory of 256 MiB
 *     npm run bench -- s3 --only get  the rows whose name contains "get", without the memory
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatTable } from "../src/base/format.ts";
import { measureMemory } from "./s3/memory.ts";
import { measureRow, type Contestant, type RowResults } from "./s3/measure-row.ts";
import { mebibyte, warmUp } from "./s3/operations.ts";
import { s3Rows, type S3Row } from "./s3/rows.ts";
import { S3LoadClient } from "./s3/s3-load-client.ts";
import { hasS3rver, missingS3rver } from "./s3/s3rver.ts";
import { serverNames, ServerProcess } from "./s3/server-process.ts";
import { describeAim, formatRatio, formatResult, ratio } from "./s3/table.ts";
import { Progress } from "./store/progress.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string" } },
});
const effort = values.quick
  ? { turnMilliseconds: 80, rounds: 3 }
  : { turnMilliseconds: 200, rounds: 7 };
const rows = s3Rows({ isQuick: values.quick }).filter(({ name }) =>
  name.includes(values.only ?? ""),
);

const folder = mkdtempSync(join(tmpdir(), "ledge-bench-"));
try {
  if (!hasS3rver) console.log(`${missingS3rver}\n`);
  const results = await measureRows();
  console.log(`Medians of ${effort.rounds} turns each, for one operation.\n`);
  console.log(formatTable([header(), ...results.map(([row, result]) => describeRow(row, result))]));
  if (values.only === undefined) {
    const size = (values.quick ? 256 : 1024) * mebibyte;
    console.log(`\n${formatTable(await measureMemory(folder, size))}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measureRows(): Promise<[S3Row, RowResults][]> {
  const contestants: Contestant[] = [];
  const progress = new Progress(rows.length);
  try {
    for (const name of serverNames) {
      if (name === "s3rver" && !hasS3rver) continue;
      const server = await ServerProcess.start(name, join(folder, name));
      const client = new S3LoadClient(server.address);
      contestants.push({ server, client });
      await warmUp(client);
    }
    const results: [S3Row, RowResults][] = [];
    for (const row of rows) {
      progress.step(row.name);
      results.push([row, await measureRow(row, contestants, effort)]);
    }
    return results;
  } finally {
    progress.end();
    for (const { server, client } of contestants) {
      client.close();
      await server.stop();
    }
  }
}

function header(): string[] {
  const ratios = ["Miniflare / ours", "aim", "s3rver / ours", "ours / bare", "aim"];
  return [
    "",
    "ours",
    "durability process",
    "Miniflare",
    "s3rver",
    "bare",
    ...ratios,
    "processor: Miniflare / ours",
  ];
}

function describeRow({ name, miniflareAim, bareAim }: S3Row, results: RowResults): string[] {
  const { ours, process: unsynced, miniflare, s3rver, bare } = results;
  const faster = ratio(miniflare, ours, "milliseconds");
  const slower = ratio(ours, bare, "milliseconds");
  return [
    name,
    formatResult(ours),
    formatResult(unsynced),
    formatResult(miniflare),
    formatResult(s3rver),
    formatResult(bare),
    formatRatio(faster),
    describeAim(miniflareAim, (aim) => faster >= aim, "≥"),
    formatRatio(ratio(s3rver, ours, "milliseconds")),
    formatRatio(slower),
    describeAim(bareAim, (aim) => slower <= aim, "≤"),
    formatRatio(ratio(miniflare, ours, "processorMilliseconds")),
  ];
}
