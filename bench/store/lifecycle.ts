/**
 * Starting, the first operation, and reloading; the floor is a Miniflare without any storage.
 *
 * A start makes 20 MB of garbage, and a process with many of them collects it during every other,
 * for 30 ms: as much as is to be measured. A dev server starts once, so that is not its time.
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

async function liveOnce(side: SideName, folder: string): Promise<Times> {
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
    // Makes the body, and the script's isolate with it.
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
    // The first of each makes its folders, and does not count.
    for (const side of sides) await liveOnce(side, join(state, side));
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        times[side].push(await liveOnce(side, join(state, side)));
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
