/**
 * Start, first operation and reload. The floor is a Miniflare without storage.
 *
 * A start creates 20 MB of garbage. In a process with many starts, the collection would take 30 ms
 * of every second start, which is as much as the measured time. A dev server starts once, so the
 * benchmark collects the garbage before each measurement.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median, type Measured, type SideName } from "./measure.ts";
import { mainBucket } from "./rows.ts";
import { miniflareOptions, send, startRuntime, type BindingSide } from "./runtime.ts";
import type { Message } from "./workload.ts";

export const lifecycleNames = ["time to ready", "first operation", "reload"] as const;

const bindings: Record<SideName, BindingSide[]> = { ours: ["ours"], r2: ["r2"], floor: [] };

type Times = Record<(typeof lifecycleNames)[number], number>;

async function measureOnce(side: SideName, folder: string): Promise<Times> {
  const options = { folder, sides: bindings[side], buckets: [mainBucket] };
  globalThis.gc?.();
  let last = performance.now();
  const lap = () => -(last - (last = performance.now()));
  const miniflare = startRuntime(options);
  try {
    await miniflare.ready;
    const ready = lap();
    const task = { operation: "put", folder: "lifecycle", size: 1024, atOnce: 1 };
    const message = { side, bucket: mainBucket, task, from: 0, count: 1 };
    // Creates the body, and starts the script's isolate.
    await send(miniflare, { ...message, phase: "prepare" });
    lap();
    const phase: Message["phase"] = side === "floor" ? "empty" : "run";
    await send(miniflare, { ...message, phase });
    const first = lap();
    const edited = miniflareOptions({ ...options, edition: 1 });
    globalThis.gc?.();
    lap();
    await miniflare.setOptions(edited);
    return { "time to ready": ready, "first operation": first, reload: lap() };
  } finally {
    await miniflare.dispose();
  }
}

export async function measureLifecycle(folder: string, rounds: number): Promise<Measured[]> {
  const sides: SideName[] = ["floor", "ours", "r2"];
  const state = mkdtempSync(join(folder, "lifecycle-"));
  const times: Record<SideName, Times[]> = { ours: [], r2: [], floor: [] };
  try {
    // The first run of each side creates its folders, and does not count.
    for (const side of sides) await measureOnce(side, join(state, side));
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        times[side].push(await measureOnce(side, join(state, side)));
      }
    }
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
  return lifecycleNames.map((name) => ({
    name,
    rounds,
    milliseconds: Object.fromEntries(
      sides.map((side) => [side, median(times[side].map((laps) => laps[name]))]),
    ),
  }));
}
