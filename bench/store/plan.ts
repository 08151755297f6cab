/** All measurements in order, and the runtimes in which they run. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import type { Check } from "./check.ts";
import { fillBuckets } from "./fill.ts";
import { FloorBucket, floorStreams } from "./floor-bucket.ts";
import { measureFolder } from "./folder-size.ts";
import { lifecycleNames, measureLifecycle } from "./lifecycle.ts";
import { measureRow, type Effort, type Measured, type Side } from "./measure.ts";
import { measureMemory } from "./memory.ts";
import { Progress } from "./progress.ts";
import {
  listedBuckets,
  listRows,
  mainBucket,
  mainRows,
  processBucket,
  verifiedBucket,
  type Row,
} from "./rows.ts";
import { send, startRuntime } from "./runtime.ts";
import { handleMessage } from "./workload.ts";

interface Step {
  readonly name: string;
  /** Absent for measurements that start their own runtimes. */
  readonly row?: Row;
}

const lifecycle = lifecycleNames.join(", ");
const memory = "memory while streaming";
const smallFolder = "state folder, values of 1 KiB";
const largeFolder = "state folder, values of 8 MiB";

const efforts: Record<"quick" | "whole", Effort> = {
  quick: {
    turnMilliseconds: 40,
    rowMilliseconds: 250,
    roundsMin: 3,
    roundsMax: 9,
    longRoundsMin: 1,
  },
  whole: {
    turnMilliseconds: 80,
    rowMilliseconds: 2000,
    roundsMin: 5,
    roundsMax: 21,
    longRoundsMin: 3,
  },
};

const mebibyte = 1024 * 1024;
const startupMillisecondsMax = 25;
/** The limit for a page in a million keys, relative to a page in ten thousand; the rest is noise. */
const flatMax = 1.5;

interface Results {
  readonly rows: Measured[];
  readonly checks: Check[];
}

interface Selection {
  readonly quick: boolean;
  readonly only: readonly string[];
}

export function planAll({ quick, only }: Selection): Step[] {
  const rows = [...mainRows, ...listRows].filter((row) => !quick || row.quick);
  const others = quick ? [lifecycle] : [lifecycle, smallFolder, largeFolder];
  // The memory of a process is read from /proc.
  if (!quick && process.platform === "linux") others.push(memory);
  const steps = [
    ...rows.map((row) => ({ name: row.name, row })),
    ...others.map((name) => ({ name })),
  ];
  return steps.filter(
    ({ name }) => only.length === 0 || only.some((text) => name.toLowerCase().includes(text)),
  );
}

export async function measureAll(
  steps: readonly Step[],
  { folder, quick }: { folder: string; quick: boolean },
): Promise<Results> {
  const progress = new Progress(steps.length);
  const effort = efforts[quick ? "quick" : "whole"];
  const rows: Measured[] = [];
  const checks: Check[] = [];

  const chosen = steps.flatMap(({ row }) => row ?? []);
  const measureIn = async (runtime: Runtime, some: Row[]) => {
    try {
      await warmUp(runtime.sides, some);
      for (const row of some) {
        progress.step(row.name);
        rows.push(await measureRow(row, runtime.sides, effort));
      }
    } finally {
      await runtime.close();
    }
  };
  const operations = chosen.filter(({ bucket }) => !(bucket in listedBuckets));
  if (operations.length > 0) {
    const state = mkdtempSync(join(folder, "main-"));
    await measureIn(openRuntime(state, [mainBucket, processBucket, verifiedBucket]), operations);
  }

  const listings = chosen.filter(({ bucket }) => bucket in listedBuckets);
  if (listings.length > 0) {
    const buckets = [...new Set(listings.map(({ bucket }) => bucket))];
    const state = mkdtempSync(join(folder, "listed-"));
    await fillBuckets(
      state,
      Object.fromEntries(buckets.map((bucket) => [bucket, listedBuckets[bucket] as number])),
      ["ours", "r2", "floor"],
    );
    await measureIn(openRuntime(state, buckets), listings);
    checks.push(...flatness(rows));
  }

  const others: Record<string, () => Promise<void>> = {
    async [lifecycle]() {
      const measured = await measureLifecycle(folder, quick ? 3 : 15);
      rows.push(...measured);
      const { ours = 0, floor = 0 } = measured[0]?.milliseconds ?? {};
      checks.push({
        name: "time to ready, over a Miniflare without storage",
        unit: "ms",
        ours: ours - floor,
        r2: (measured[0]?.milliseconds.r2 ?? 0) - floor,
        limit: startupMillisecondsMax,
      });
    },
    async [memory]() {
      checks.push(...(await measureMemory(folder, 1024 * mebibyte)));
    },
    async [smallFolder]() {
      const counts = { ours: 65_536, r2: 4096 };
      checks.push(...(await measureFolder(folder, { size: 1024, counts, limit: 1.3 })));
    },
    async [largeFolder]() {
      const counts = { ours: 16, r2: 16 };
      checks.push(...(await measureFolder(folder, { size: 8 * mebibyte, counts, limit: 1.05 })));
    },
  };
  for (const { name, row } of steps) {
    if (row !== undefined) continue;
    progress.step(name);
    await others[name]?.();
  }
  progress.end();
  return { rows, checks };
}

/** The first hundreds of calls of a runtime are slow, and would distort the first row. */
async function warmUp(sides: readonly Side[], rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (first === undefined || first.bucket in listedBuckets) return;
  for (const side of sides) {
    for (const operation of ["put", "get"]) {
      const task = { operation, folder: "warm-up", size: 1024, atOnce: 1 };
      const message = { side: side.name, bucket: mainBucket, task, from: 0, count: 200 };
      for (const phase of ["prepare", "run"] as const) await side.send({ ...message, phase });
    }
  }
}

function flatness(rows: readonly Measured[]): Check[] {
  const ours = (name: string) => rows.find((row) => row.name === name)?.milliseconds.ours;
  return listRows.flatMap(({ name, bucket }) => {
    const large = bucket === "1M" ? ours(name) : undefined;
    const small = ours(name.replace("1M keys", "10k keys"));
    if (large === undefined || small === undefined) return [];
    return {
      name: `${name}, to 10k keys`,
      unit: "×" as const,
      ours: large / small,
      limit: flatMax,
    };
  });
}

interface Runtime {
  readonly sides: Side[];
  close(): Promise<void>;
}

/** The three sides on one folder. `close()` removes the folder. */
function openRuntime(folder: string, buckets: readonly string[]): Runtime {
  const miniflare: Miniflare = startRuntime({ folder, sides: ["ours", "r2"], buckets });
  const floors = new Map(
    buckets.map((bucket) => [bucket, new FloorBucket(join(folder, "floor", bucket))]),
  );
  return {
    sides: [
      { name: "ours", send: (message) => send(miniflare, message) },
      { name: "r2", send: (message) => send(miniflare, message) },
      {
        name: "floor",
        send: async (message) =>
          handleMessage(message, floors.get(message.bucket) as FloorBucket, floorStreams),
      },
    ],
    async close() {
      await miniflare.dispose();
      for (const floor of floors.values()) floor.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
