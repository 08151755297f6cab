/**
 * A program that starts one thing of this package on free ports and runs until its input ends.
 * Arguments: what to start, and the folder of its state. Prints the known ports as JSON.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { getPlatformProxy, startDns } from "../../../dist/index.js";
import type { StoreBucket } from "../../../src/types/store.ts";
import { worker } from "../../support/worker.ts";

/** The ports that the program knows, by the role that `access-table.ts` gives them. */
type Ports = Record<string, number>;

const starts: Record<string, (folder: string) => Promise<Ports>> = {
  async dns(folder) {
    const { url, dnsPort } = await startDns({ persistTo: folder, port: 0, dnsPort: 0 });
    return { "record API": Number(new URL(url).port), DNS: dnsPort as number };
  },

  async miniflare(folder) {
    const script = worker(`export default { fetch: () => new Response("script") };`);
    const miniflare = new Miniflare({ resourcePersistencePath: folder, workers: [script] });
    return { "Miniflare's entry to the script": Number((await miniflare.ready).port) };
  },

  async "platform proxy"(folder) {
    const configPath = join(folder, "wrangler.json");
    const store_buckets = [{ binding: "PHOTOS", bucket_name: "photos" }];
    const date = { compatibility_date: "2026-08-01" };
    const dns = { binding: "DNS" };
    writeFileSync(configPath, JSON.stringify({ name: "proxy", ...date, store_buckets, dns }));
    const { env } = await getPlatformProxy<{ PHOTOS: StoreBucket }>({ configPath });
    await env.PHOTOS.put("key", "value");
    return {};
  },
};

const [, , what = "", folder = ""] = process.argv;
const ports = await starts[what]!(folder);
process.stdout.write(`${JSON.stringify({ ports })}\n`);
process.stdin.resume().on("end", () => process.exit());
