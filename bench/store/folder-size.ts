/** The disk space of the state folder, relative to the stored bytes. */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Check } from "./check.ts";
import { formatSize, mainBucket } from "./rows.ts";
import { send, startRuntime, type BindingSide } from "./runtime.ts";
import type { Message } from "./workload.ts";

export interface FolderLoad {
  readonly size: number;
  /** R2 may store fewer objects: it uses a file for each, so its ratio is independent of the count. */
  readonly counts: Record<BindingSide, number>;
  readonly limit: number;
}

/** The share of the stored bytes that may remain on disk after all objects are deleted. */
const leftMax = 0.05;
/** A side may remove files after the promise has resolved. */
const settleMilliseconds = 500;

const subfolders: Record<BindingSide, string> = { ours: "store", r2: "r2" };

/** Allocated bytes, as `du` counts them, and not the lengths of the files. */
function allocatedBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.blocks ?? 0)
    .reduce((sum, blocks) => sum + blocks * 512, 0);
}

async function load(folder: string, side: BindingSide, { size, counts }: FolderLoad) {
  const state = mkdtempSync(join(folder, "size-"));
  const miniflare = startRuntime({ folder: state, sides: [side], buckets: [mainBucket] });
  try {
    const task = { operation: "put", folder: "size", size, atOnce: size > 65536 ? 1 : 32 };
    const message = { side, bucket: mainBucket, task, from: 0, count: counts[side] };
    const ask = (phase: Message["phase"]) => send(miniflare, { ...message, phase });
    await ask("prepare");
    await ask("run");
    await setTimeout(settleMilliseconds);
    const stored = allocatedBytes(join(state, subfolders[side]));
    await ask("verify");
    await ask("clean");
    await setTimeout(settleMilliseconds);
    const left = allocatedBytes(join(state, subfolders[side]));
    const bytes = size * counts[side];
    return { stored: stored / bytes, left: left / bytes };
  } finally {
    await miniflare.dispose();
    rmSync(state, { recursive: true, force: true });
  }
}

export async function measureFolder(folder: string, folderLoad: FolderLoad): Promise<Check[]> {
  const ours = await load(folder, "ours", folderLoad);
  const r2 = await load(folder, "r2", folderLoad);
  const values = formatSize(folderLoad.size);
  return [
    {
      name: `state folder with values of ${values}, to the bytes stored`,
      unit: "×",
      ours: ours.stored,
      r2: r2.stored,
      limit: folderLoad.limit,
    },
    {
      name: `state folder after they are deleted`,
      unit: "×",
      ours: ours.left,
      r2: r2.left,
      limit: leftMax,
    },
  ];
}
