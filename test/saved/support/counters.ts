/**
 * Counters that tell whether a state is one that was. A request of a writer increments its counter in a bucket, in KV,
 * in D1 and in a Durable Object, one after the other. So at each moment, and in each state, they are in this order and
 * differ by one at most. A request finishes first what a request that was ended has left.
 */
import { readFileSync } from "node:fs";
import type { SavedRecord } from "../../../src/saved/saved-record.ts";
import { readState } from "../../../src/saved/readable-state.ts";

const places = ["bucket", "kv", "d1", "object"] as const;
export type Counters = Record<(typeof places)[number], number>;

/** Contents above the limit for rows are files. */
const fileBytes = 150_000;

/** `/bump?writer=`, and `/read?writer=`. Writers with an odd number write files into the bucket. */
export const counterScript = `
import { DurableObject } from "cloudflare:workers";
export class Counter extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS counter (writer TEXT PRIMARY KEY, value INTEGER)");
  }
  put(writer, value) { this.ctx.storage.sql.exec("INSERT OR REPLACE INTO counter VALUES (?, ?)", writer, value); }
  get(writer) {
    const [row] = this.ctx.storage.sql.exec("SELECT value FROM counter WHERE writer = ?", writer).toArray();
    return row?.value ?? 0;
  }
}

async function read(env, writer) {
  const [bucket, kv, d1, object] = await Promise.all([
    env.PHOTOS.get(writer).then((found) => found?.text()),
    env.KV.get(writer),
    env.DB.prepare("SELECT value FROM counters WHERE writer = ?").bind(writer).first("value"),
    env.COUNTER.getByName(writer).get(writer),
  ]);
  return { bucket: Number(bucket?.trim() ?? 0), kv: Number(kv ?? 0), d1: d1 ?? 0, object };
}
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const writer = searchParams.get("writer");
    const before = await read(env, writer).catch(async () => {
      await env.DB.exec("CREATE TABLE IF NOT EXISTS counters (writer TEXT PRIMARY KEY, value INTEGER)");
      return read(env, writer);
    });
    if (pathname !== "/bump") return Response.json({ before });
    const value = before.object < before.bucket ? before.bucket : before.bucket + 1;
    const text = String(value);
    await env.PHOTOS.put(writer, Number(writer) % 2 === 1 ? text.padEnd(${fileBytes}) : text);
    await env.KV.put(writer, text);
    await env.DB.prepare("INSERT OR REPLACE INTO counters VALUES (?, ?)").bind(writer, value).run();
    await env.COUNTER.getByName(writer).put(writer, value);
    return Response.json({ before, value });
  },
};
`;

/** @returns what is wrong with the counters of a writer; `null` for a state that can have been */
export function mixture({ bucket, kv, d1, object }: Counters): string | null {
  const isOrdered = bucket >= kv && kv >= d1 && d1 >= object && object >= bucket - 1;
  return isOrdered ? null : JSON.stringify({ bucket, kv, d1, object });
}

/** The counters of each writer in a saved state, read without a runtime. */
export function savedCounters(record: SavedRecord): Map<string, Counters> {
  const state = readState(record);
  const counters = new Map<string, Counters>();
  const add = (place: keyof Counters, writer: unknown, value: unknown): void => {
    const found = counters.get(String(writer)) ?? { bucket: 0, kv: 0, d1: 0, object: 0 };
    counters.set(String(writer), { ...found, [place]: Number(value) });
  };
  const values = [...state.values.keys()];
  const contentOf = (folder: string, name: unknown): string => {
    const path = values.find(
      (each) => each.startsWith(folder) && each.endsWith(`/${String(name)}`),
    );
    if (path === undefined) throw new Error(`The state has no value ${String(name)}`);
    return readFileSync(state.valuePath(path), "utf8").trim();
  };
  try {
    for (const path of state.databases) {
      const database = state.openDatabase(path);
      const has = (table: string): boolean =>
        database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(table) !== undefined;
      if (has("counters")) {
        for (const { writer, value } of database.prepare("SELECT * FROM counters").all())
          add("d1", writer, value);
      } else if (has("counter")) {
        for (const { writer, value } of database.prepare("SELECT * FROM counter").all())
          add("object", writer, value);
      } else if (path.startsWith("kv/") && has("_mf_entries")) {
        for (const { key, blob_id: blob } of database.prepare("SELECT * FROM _mf_entries").all())
          add("kv", key, contentOf("kv/", blob));
      } else if (has("bodies")) {
        const query =
          "SELECT key, bytes, segments FROM objects LEFT JOIN bodies ON bodies.id = objects.body";
        for (const { key, bytes, segments } of database.prepare(query).all()) {
          const text =
            bytes === null
              ? contentOf(
                  "store/blobs/",
                  (JSON.parse(String(segments)) as [[number, string]])[0][1],
                )
              : Buffer.from(bytes as Uint8Array).toString();
          add("bucket", key, text.trim());
        }
      }
    }
  } finally {
    state.close();
  }
  return counters;
}
