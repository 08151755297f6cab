/** The growth of the runtime while it streams. It is read from `/proc`, so on Linux only. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findRuntimeProcess, residentBytes } from "../../test/support/processes.ts";
import type { Check } from "./check.ts";
import { formatSize, mainBucket } from "./rows.ts";
import { send, startRuntime, type BindingSide } from "./runtime.ts";
import type { Message } from "./workload.ts";

const mebibyte = 1024 * 1024;
/** Short enough to see a peak. */
const sampleMilliseconds = 10;
const growthMebibytesMax = 64;

/** Each side has its own runtime, so that no side reuses memory that another side freed. */
async function growth(folder: string, side: BindingSide, size: number): Promise<number[]> {
  const state = mkdtempSync(join(folder, "memory-"));
  const miniflare = startRuntime({ folder: state, sides: [side], buckets: [mainBucket] });
  try {
    const stream = async (operation: string, phases: Message["phase"][], bytes: number) => {
      const task = { operation, folder: "memory", size: bytes, atOnce: 1 };
      const message = { side, bucket: mainBucket, task, from: 0, count: 1 };
      for (const phase of phases) await send(miniflare, { ...message, phase });
    };
    // A small first run: the initial growth of a runtime does not count.
    await stream("streamPut", ["run"], mebibyte);
    await stream("streamGet", ["run", "clean"], mebibyte);
    const processId = findRuntimeProcess(state);
    const peaks: number[] = [];
    for (const operation of ["streamPut", "streamGet"]) {
      const before = residentBytes(processId);
      let peak = before;
      const timer = setInterval(
        () => (peak = Math.max(peak, residentBytes(processId))),
        sampleMilliseconds,
      );
      try {
        await stream(operation, ["run"], size);
      } finally {
        clearInterval(timer);
      }
      peaks.push((peak - before) / mebibyte);
    }
    return peaks;
  } finally {
    await miniflare.dispose();
    rmSync(state, { recursive: true, force: true });
  }
}

export async function measureMemory(folder: string, size: number): Promise<Check[]> {
  const ours = await growth(folder, "ours", size);
  const r2 = await growth(folder, "r2", size);
  return ["put", "get"].map((verb, index) => ({
    name: `memory grown by a stream ${verb} of ${formatSize(size)}`,
    unit: "MiB",
    ours: ours[index] as number,
    r2: r2[index] as number,
    limit: growthMebibytesMax,
  }));
}
