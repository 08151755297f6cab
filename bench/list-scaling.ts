/**
 * Does a page of a listing cost the same in a large bucket as in a small one?
 *
 * Two buckets in one runtime, 10,000 and 1,000,000 keys in 100 folders; the same pages of both,
 * asked for in turns; medians, and their ratio.
 *
 *     npm run bench -- list
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const folders = 100;
const sizes = { SMALL: 10_000, LARGE: 1_000_000 };
const rounds = 15;
const callsARound = 20;

const pages = {
  "first page of 1000": {},
  "prefix page of 100": { prefix: "folder-042/", limit: 100 },
  "delimiter page of 100": { delimiter: "/", limit: 100 },
  "prefix page with metadata": {
    prefix: "folder-042/",
    limit: 100,
    include: ["httpMetadata", "customMetadata"],
  },
};

const script = `
  export default {
    async fetch(request, env) {
      const { binding, calls, options } = await request.json();
      const start = Date.now();
      let items = 0;
      for (let call = 0; call < calls; call++) {
        const { objects, delimitedPrefixes } = await env[binding].list(options);
        items = objects.length + delimitedPrefixes.length;
      }
      return Response.json({ milliseconds: (Date.now() - start) / calls, items });
    },
  };`;

const plugin = {
  package: fileURLToPath(new URL("../dist/plugin.js", import.meta.url)),
  name: "store",
};

const folder = mkdtempSync(join(tmpdir(), "ledge-bench-"));
function start(): Miniflare {
  return new Miniflare({
    resourcePersistencePath: folder,
    workers: [
      {
        config: {
          type: "worker",
          name: "bench",
          compatibilityDate: "2026-08-01",
          manifest: {
            mainModule: "index.mjs",
            modules: { "index.mjs": { type: "esm", contents: script } },
          },
          env: Object.fromEntries(
            Object.keys(sizes).map((name) => [
              name,
              {
                type: "unsafe:store_bucket" as const,
                dev: { plugin, options: { bucket_name: name.toLowerCase() } },
              },
            ]),
          ),
        },
      },
    ],
  });
}

async function list(
  miniflare: Miniflare,
  binding: string,
  options: object,
): Promise<{ milliseconds: number; items: number }> {
  const body = JSON.stringify({ binding, calls: callsARound, options });
  const response = await miniflare.dispatchFetch("http://bench/", { method: "POST", body });
  return (await response.json()) as { milliseconds: number; items: number };
}

/** Writes the rows themselves, in the one bucket database that is still empty. */
function fill(count: number): void {
  const databases = join(folder, "store", "databases", "ledge-store-bucket");
  for (const file of readdirSync(databases).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))) {
    const database = new DatabaseSync(join(databases, file));
    const { rows } = database.prepare("SELECT count(*) AS rows FROM objects").get() as {
      rows: number;
    };
    if (rows === 0) {
      database.exec(`
        WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})
        INSERT INTO objects
        SELECT printf('folder-%03d/file-%06d', n % ${folders}, n / ${folders}),
          json_array(hex(randomblob(16)), 0, 'd41d8cd98f00b204e9800998ecf8427e', 1750000000000),
          '[{"contentType":"text/plain"},{"owner":"bench"}]', NULL, NULL, '[]'
        FROM numbers`);
    }
    database.close();
  }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

try {
  for (const [name, count] of Object.entries(sizes)) {
    console.log(`Filling a bucket with ${count.toLocaleString("en")} keys`);
    // A runtime makes the tables; the rows are written while none is running.
    const miniflare = start();
    await list(miniflare, name, { limit: 1 });
    await miniflare.dispose();
    fill(count);
  }
  const miniflare = start();
  console.log("\npage                          10,000 keys   1,000,000 keys   ratio");
  for (const [page, options] of Object.entries(pages)) {
    const times: Record<string, number[]> = { SMALL: [], LARGE: [] };
    for (let round = 0; round < rounds; round++) {
      for (const name of Object.keys(sizes)) {
        const { milliseconds, items } = await list(miniflare, name, options);
        if (items === 0) throw new Error(`"${page}" is empty: nothing was measured`);
        times[name]?.push(milliseconds);
      }
    }
    const small = median(times["SMALL"] as number[]);
    const large = median(times["LARGE"] as number[]);
    console.log(
      `${page.padEnd(28)}${`${small.toFixed(2)} ms`.padStart(13)}` +
        `${`${large.toFixed(2)} ms`.padStart(17)}${(large / small).toFixed(2).padStart(8)}`,
    );
  }
  await miniflare.dispose();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
