/**
 * Saving and restoring the state of a running dev server, beside a copy of the folder: `cp -a` and a restart, which is
 * what people do by hand. And the reset between two end-to-end tests.
 *
 *     npm run bench -- state            1,000 objects with 1 GiB, a D1 database of 100 MB, 10,000 keys of KV
 *     npm run bench -- state --quick    a tenth of that, and fewer turns
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { formatTable } from "../src/base/format.ts";
import { startDev, type RunningDev } from "../dist/index.js";
import { median } from "./store/measure.ts";
import { Progress } from "./store/progress.ts";
import { formatTime } from "./store/table.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const scale = values.quick
  ? { objects: 100, rows: 10_000, keys: 1000, rounds: 3, resets: 10 }
  : { objects: 1000, rows: 100_000, keys: 10_000, rounds: 5, resets: 50 };
const aim = { ratio: 5, resetMilliseconds: 50 };

const script = `
const value = "v".repeat(1000);
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const number = (name) => Number(url.searchParams.get(name));
    const change = async (n) => {
      await env.PHOTOS.put("photo-" + (n % 100), "changed " + n);
      await env.KV.put("key-" + (n % 100), "changed " + n);
      await env.DB.prepare("UPDATE rows SET value = ? WHERE id = ?").bind("changed " + n, n % 100).run();
    };
    if (url.pathname === "/fill") {
      for (let n = number("from"); n < number("to"); n++) {
        const large = new Uint8Array(1 << 20);
        new DataView(large.buffer).setUint32(0, n);
        await env.PHOTOS.put("photo-" + n, large);
      }
    } else if (url.pathname === "/rows") {
      await env.DB.exec("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, value TEXT)");
      await env.DB.prepare(
        "WITH RECURSIVE n(id) AS (SELECT ?1 UNION ALL SELECT id + 1 FROM n WHERE id < ?2 - 1) " +
        "INSERT INTO rows SELECT id, ?3 FROM n",
      ).bind(number("from"), number("to"), value).run();
    } else if (url.pathname === "/keys") {
      const keys = Array.from({ length: number("to") - number("from") }, (_, n) => "key-" + (n + number("from")));
      await Promise.all(keys.map((key) => env.KV.put(key, value.slice(0, 100))));
    } else if (url.pathname === "/change") {
      for (let n = 0; n < number("count"); n++) await change(n);
    } else if (url.pathname === "/read") {
      const [object, row] = await Promise.all([
        env.PHOTOS.head("photo-0"),
        env.DB.prepare("SELECT value FROM rows WHERE id = 0").first("value"),
      ]);
      return new Response(object.size + " " + row.slice(0, 7) + " " + (await env.KV.get("key-0")).slice(0, 7));
    }
    return new Response("ok");
  },
};`;

const config = {
  name: "bench",
  main: "index.js",
  compatibility_date: "2026-08-01",
  store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  kv_namespaces: [{ binding: "KV", id: "kv" }],
  d1_databases: [{ binding: "DB", database_id: "db", database_name: "db" }],
};

const repository = fileURLToPath(new URL("../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ledge-bench-state-"));
symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"), "dir");
writeFileSync(join(folder, "index.js"), script);
writeFileSync(join(folder, "wrangler.json"), JSON.stringify(config));
const stateFolder = join(folder, ".wrangler/state");
const copyFolder = join(folder, "copy");

let dev = await start();
try {
  await fill();
  const original = await get("/read");
  const times: Record<"save" | "copy" | "restore" | "copyBack" | "reset", number[]> = {
    save: [],
    copy: [],
    restore: [],
    copyBack: [],
    reset: [],
  };
  const progress = new Progress(scale.rounds);
  for (let round = 0; round < scale.rounds; round++) {
    progress.step(`round ${round + 1}`);
    times.save.push(await measure(() => dev.state.save("bench", { replace: true })));
    await get("/change?count=100");
    times.restore.push(
      await measure(async () => {
        await dev.state.restore("bench");
        await expectText(original);
      }),
    );
    times.copy.push(await measure(() => whileStopped(() => copy(stateFolder, copyFolder))));
    await get("/change?count=100");
    times.copyBack.push(
      await measure(async () => {
        await whileStopped(() => copy(copyFolder, stateFolder));
        await expectText(original);
      }),
    );
    // The new server has no base.
    await dev.state.save("bench", { replace: true });
  }
  for (let round = 0; round < scale.resets; round++) {
    await get("/change?count=1");
    times.reset.push(await measure(() => dev.state.reset()));
    await expectText(original);
  }
  progress.end();
  const row = (name: string, ours: number[], theirs: number[]): string[] => {
    const ratio = median(theirs) / median(ours);
    const mark = ratio >= aim.ratio ? "✓" : "✗";
    const cells = [formatTime(median(ours)), formatTime(median(theirs)), ratio.toFixed(1)];
    return [name, ...cells, `≥ ${aim.ratio} ${mark}`];
  };
  const reset = median(times.reset);
  console.log(
    `\n${formatTable([
      ["", "Ledge", "cp -a and a restart", "ratio", "aim"],
      row("save", times.save, times.copy),
      row("restore", times.restore, times.copyBack),
      [
        "reset of three changes",
        formatTime(reset),
        "",
        "",
        `≤ ${aim.resetMilliseconds} ms ${reset <= aim.resetMilliseconds ? "✓" : "✗"}`,
      ],
    ])}\n\nMedians of ${scale.rounds} rounds and ${scale.resets} resets. ` +
      `${scale.objects} objects of 1 MiB, ${scale.rows} rows of 1 kB in D1, ${scale.keys} keys of KV.`,
  );
} finally {
  await dev.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

async function start(): Promise<RunningDev> {
  const quiet = { s3: false, logLevel: "none", log() {} } as const;
  const ports = { port: 0, explorerPort: 0, dnsApiPort: 0, dnsPort: 0 };
  const started = await startDev({ configPath: join(folder, "wrangler.json"), ...ports, ...quiet });
  await started.ready;
  return started;
}

async function fill(): Promise<void> {
  const steps: [string, number, number][] = [
    ["/fill", scale.objects, 50],
    ["/rows", scale.rows, 10_000],
    ["/keys", scale.keys, 500],
  ];
  const progress = new Progress(steps.length);
  for (const [path, count, size] of steps) {
    progress.step(path.slice(1));
    for (let from = 0; from < count; from += size)
      await get(`${path}?from=${from}&to=${from + size}`);
  }
  progress.end();
}

async function get(path: string): Promise<string> {
  const response = await fetch(new URL(path, dev.url));
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

async function expectText(original: string): Promise<void> {
  const found = await get("/read");
  if (found !== original) throw new Error(`Read ${found} in place of ${original}.`);
}

async function measure(act: () => unknown): Promise<number> {
  const begin = performance.now();
  await act();
  return performance.now() - begin;
}

/** The time of the server until its script answers again is part of the measurement. */
async function whileStopped(act: () => void): Promise<void> {
  await dev.stop();
  act();
  dev = await start();
  await get("/read");
}

/** The saved states of Ledge are no part of what a person would copy. */
function copy(from: string, to: string): void {
  rmSync(join(to, "v3"), { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  execFileSync("cp", ["-a", join(from, "v3"), to]);
}
