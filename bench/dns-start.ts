/**
 * A start of the name server with a zone of 100,000 records: from the start of the process to the
 * first answer, and the memory of each process afterwards.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { untilAnswering } from "../test/peers/servers/peer.ts";
import { zoneName } from "./dns/bench-zone.ts";
import { runOurs, startOurs } from "./dns/contestants.ts";
import { processorSeconds, residentBytesByProcess } from "./process-tree.ts";
import { median } from "./store/measure.ts";

const { values: options } = parseArgs({
  options: {
    records: { type: "string", default: "100000" },
    rounds: { type: "string", default: "5" },
  },
});
/** Outside the range of ephemeral ports. */
const port = 61_090;
const mebibyte = 1024 * 1024;

const folder = mkdtempSync(join(tmpdir(), "ledge-dns-start-"));
try {
  await (await startOurs({ folder, port }, { size: Number(options.records) })).stop();
  const milliseconds: number[] = [];
  const processor: number[] = [];
  let memory: number[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const begin = performance.now();
    const server = await runOurs({ folder, port });
    await untilAnswering(port, zoneName);
    milliseconds.push(performance.now() - begin);
    processor.push(processorSeconds(server.processId) ?? NaN);
    memory = Array.from(residentBytesByProcess(server.processId).values());
    await server.stop();
  }
  const row = {
    "first answer, ms": Math.round(median(milliseconds)),
    "processor s": median(processor).toFixed(2),
    "MiB of each process": memory.map((bytes) => Math.round(bytes / mebibyte)).join(" + "),
  };
  console.table([row]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
