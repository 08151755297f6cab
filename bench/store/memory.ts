/** How much the runtime grows while it streams; from `/proc`, so on Linux only. */
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "./check.ts";
import { formatSize, mainBucket } from "./rows.ts";
import { send, startRuntime, type BindingSide } from "./runtime.ts";
import type { Message } from "./workload.ts";

const mebibyte = 1024 * 1024;
/** Often enough to see a peak that lasts. */
const sampleMilliseconds = 10;
const growthMebibytesMax = 64;

function residentBytes(pid: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

function opens(pid: string, folder: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) =>
      readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith(folder),
    );
  } catch {
    // Another user's, or gone.
    return false;
  }
}

function runtimeOf(folder: string): string {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && opens(name, folder));
  const [pid] = pids;
  if (pid === undefined || pids.length > 1) throw new Error("Cannot tell which process is workerd");
  return pid;
}

/** A runtime of its own for each side, so that none grows into what the other has let go. */
async function growth(folder: string, side: BindingSide, size: number): Promise<number[]> {
  const state = mkdtempSync(join(folder, "memory-"));
  const miniflare = startRuntime({ folder: state, sides: [side], buckets: [mainBucket] });
  try {
    const stream = async (operation: string, phases: Message["phase"][], bytes: number) => {
      const task = { operation, folder: "memory", size: bytes, atOnce: 1 };
      const message = { side, bucket: mainBucket, task, from: 0, count: 1 };
      for (const phase of phases) await send(miniflare, { ...message, phase });
    };
    // Once in small, so that what every runtime grows by at first does not count.
    await stream("streamPut", ["run"], mebibyte);
    await stream("streamGet", ["run", "clean"], mebibyte);
    const pid = runtimeOf(state);
    const peaks: number[] = [];
    for (const operation of ["streamPut", "streamGet"]) {
      const before = residentBytes(pid);
      let peak = before;
      const timer = setInterval(
        () => (peak = Math.max(peak, residentBytes(pid))),
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
