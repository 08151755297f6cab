/**
 * Buckets with many keys, the same on all sides.
 *
 * R2 would need half an hour for a million puts, so this writes rows into the databases while no
 * runtime runs. A marker object in each database names the bucket.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openDatabase } from "./floor-bucket.ts";
import type { SideName } from "./measure.ts";
import { send, startRuntime } from "./runtime.ts";
import type { Message } from "./workload.ts";

const folders = 100;

const md5 = "d41d8cd98f00b204e9800998ecf8427e";
const http = `'{"contentType":"text/plain"}', '{"owner":"bench"}'`;
/** The columns of our rows after the key. */
const ourRow =
  `json_array(lower(hex(randomblob(16))), 0, '${md5}', 1750000000000), ` +
  `'[{"contentType":"text/plain"},{"owner":"bench"}]', NULL, NULL, '[]'`;
const r2Row = `hex(randomblob(32)), hex(randomblob(16)), 0, '${md5}', 1750000000000, '{}', ${http}`;

function insert(database: DatabaseSync, target: { table: string; row: string; count: number }) {
  const { table, row, count } = target;
  // An interrupted benchmark discards its folder, so nothing needs to be durable.
  database.exec(`
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -500000;
    DELETE FROM ${table};
    WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})
    INSERT INTO ${table}
    SELECT printf('folder-%03d/file-%06d', n / ${count / folders}, n % ${count / folders}), ${row}
    FROM numbers;`);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

/** Fills the databases of a folder by their markers. */
function fillDatabases(
  folder: string,
  { table, row }: { table: string; row: string },
  counts: Record<string, number>,
): void {
  for (const file of readdirSync(folder).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))) {
    const database = new DatabaseSync(join(folder, file));
    const { key } = database.prepare(`SELECT key FROM ${table}`).get() as { key: string };
    const bucket = key.slice("marker/".length).replace(/\/.*/, "");
    insert(database, { table, row, count: counts[bucket] as number });
    if (table === "objects") database.exec("DELETE FROM bodies");
    database.close();
  }
}

/** Fills the buckets of `sides`. `counts` are the numbers of keys, by bucket. */
export async function fillBuckets(
  folder: string,
  counts: Record<string, number>,
  sides: readonly SideName[],
): Promise<void> {
  const buckets = Object.keys(counts);
  const bindingSides = sides.filter((side) => side !== "floor");
  const miniflare = startRuntime({ folder, sides: bindingSides, buckets });
  try {
    for (const side of bindingSides) {
      for (const bucket of buckets) {
        const task = { operation: "put", folder: `marker/${bucket}`, size: 1, atOnce: 1 };
        const message = { side, bucket, task, from: 0, count: 1 };
        for (const phase of ["prepare", "run"] satisfies Message["phase"][]) {
          await send(miniflare, { ...message, phase });
        }
      }
    }
  } finally {
    await miniflare.dispose();
  }
  const fill: Record<SideName, () => void> = {
    ours() {
      const databases = join(folder, "store", "databases", "ledge-store-bucket");
      fillDatabases(databases, { table: "objects", row: ourRow }, counts);
    },
    r2() {
      const databases = join(folder, "r2", "miniflare-R2BucketObject");
      fillDatabases(databases, { table: "_mf_objects", row: r2Row }, counts);
    },
    floor() {
      for (const [bucket, count] of Object.entries(counts)) {
        const database = openDatabase(join(folder, "floor", bucket));
        insert(database, { table: "objects", row: ourRow, count });
        database.close();
      }
    },
  };
  for (const side of sides) fill[side]();
}
