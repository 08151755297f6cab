/**
 * Whether a page of a listing costs the same in a large bucket as in a small one.
 *
 * One runtime has a bucket of 10,000 keys and a bucket of 1,000,000 keys, each in 100 folders. The
 * program requests the same pages of both in turns, and prints the medians and their ratio.
 *
 *     npm run bench -- list
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillBuckets } from "./store/fill.ts";
import { median } from "./store/measure.ts";
import { send, startRuntime } from "./store/runtime.ts";
import type { ListOptions } from "./store/session.ts";

const counts = { small: 10_000, large: 1_000_000 };
type Bucket = keyof typeof counts;
const buckets = Object.keys(counts) as Bucket[];
const rounds = 15;
const callsPerRound = 20;

const inFolder: ListOptions = { prefix: "folder-042/", limit: 100 };
const pages: Record<string, ListOptions> = {
  "first page of 1000": {},
  "prefix page of 100": inFolder,
  "delimiter page of 100": { delimiter: "/", limit: 100 },
  "prefix page with metadata": { ...inFolder, include: ["httpMetadata", "customMetadata"] },
};

const folder = mkdtempSync(join(tmpdir(), "ledge-bench-"));
try {
  for (const count of Object.values(counts)) {
    console.log(`Filling a bucket with ${count.toLocaleString("en")} keys`);
  }
  await fillBuckets(folder, counts, ["ours"]);
  const miniflare = startRuntime({ folder, sides: ["ours"], buckets });
  try {
    /** Milliseconds for one page. The workload fails if the page has fewer than 100 items. */
    const list = async (bucket: Bucket, options: ListOptions): Promise<number> => {
      const task = { operation: "list", folder: bucket, size: 0, atOnce: 1, list: options };
      const message = { side: "ours", bucket, task, from: 0, count: callsPerRound };
      const start = performance.now();
      await send(miniflare, { ...message, phase: "run" });
      return (performance.now() - start) / callsPerRound;
    };
    console.log("\npage                          10,000 keys   1,000,000 keys   ratio");
    for (const [page, options] of Object.entries(pages)) {
      const times: Record<Bucket, number[]> = { small: [], large: [] };
      for (let round = 0; round < rounds; round++) {
        for (const bucket of buckets) times[bucket].push(await list(bucket, options));
      }
      const [small, large] = [median(times.small), median(times.large)];
      console.log(
        `${page.padEnd(28)}${`${small.toFixed(2)} ms`.padStart(13)}` +
          `${`${large.toFixed(2)} ms`.padStart(17)}${(large / small).toFixed(2).padStart(8)}`,
      );
    }
  } finally {
    await miniflare.dispose();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
