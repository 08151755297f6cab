/**
 * Failing I/O: a full device, a read-only device, errors of single system calls, and folders and
 * files that are removed or damaged while a store uses them.
 *
 * Quick form: the first calls of each kind fail. Long form (`LEDGE_FAULTS=long`): each call of the
 * workload fails once.
 */
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startDns } from "../../dist/index.js";
import type { StoreBucket } from "../../src/types/store.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";
import {
  injectionProblem,
  withInjection,
  workerdBelow,
  type Injection,
} from "./support/injected-io.ts";
import { isLong } from "./support/seed.ts";
import { readStoreState } from "./support/store-state.ts";
import { deviceProblem, startOnDevice, type DeviceRun } from "./support/small-device.ts";

const noDevice = deviceProblem();
if (noDevice !== null) console.log(`Tests on a small device do not run: ${noDevice}.`);

const devicePrograms: [name: string, program: string, mebibytes: number][] = [
  ["a full store reads and deletes, refuses puts, and recovers", "full-store", 24],
  ["values in the database replace deleted values on a full device", "full-inline", 14],
  ["a bucket that is not open yet can be read on a full device", "full-closed", 24],
  ["zones are read, records deleted, and queries answered on a full device", "full-dns", 24],
  ["a start on a full device names the folder, without a stack", "full-start", 24],
  ["a device without free inodes is read, and a start names the inodes", "no-inodes", 24],
  ["an export and an import on a full device leave nothing", "full-archive", 2],
  ["a start on a read-only device names the folder", "read-only", 24],
];

describe.skipIf(noDevice !== null)("on a small device", () => {
  // The programs mostly wait for runtimes, so they run at the same time.
  const runs = new Map<string, DeviceRun>();
  beforeAll(() => {
    for (const [, program, mebibytes] of devicePrograms) {
      runs.set(program, startOnDevice(program, mebibytes));
    }
  });
  afterAll(() => Promise.all(Array.from(runs.values(), (run) => run.end())));

  it.each(devicePrograms)("%s", async (_, program) => {
    const { code, output } = await (runs.get(program) as DeviceRun).ended;
    if (code !== 0) console.log(output);
    expect(code).toBe(0);
  });
});

const noInjection = injectionProblem();
if (noInjection !== null) console.log(`Tests with injected errors do not run: ${noInjection}.`);

/** The seed and the size of a value; `null` for no object. */
type Value = { readonly seed: number; readonly size: number } | null;

/**
 * A bucket and what it must hold. Each write that is acknowledged must be there, with its bytes. A
 * write that fails leaves the old value; where the error leaves open whether the write was
 * committed, the old value or the new value.
 */
class CheckedBucket {
  readonly #bucket: StoreBucket;
  readonly #possible = new Map<string, readonly Value[]>();
  /** The messages of the writes that failed. */
  readonly failures: string[] = [];
  #seed = 0;

  constructor(bucket: StoreBucket) {
    this.#bucket = bucket;
  }

  put(key: string, size: number): Promise<void> {
    const value = { seed: ++this.#seed, size };
    return this.#write(key, value, () => this.#bucket.put(key, bytesOf(size, value.seed)));
  }

  delete(key: string): Promise<void> {
    return this.#write(key, null, () => this.#bucket.delete(key));
  }

  async #write(key: string, value: Value, write: () => Promise<unknown>): Promise<void> {
    try {
      await write();
      this.#possible.set(key, [value]);
    } catch (error) {
      this.failures.push((error as Error).message);
      this.#possible.set(key, [...(this.#possible.get(key) ?? [null]), value]);
    }
  }

  /** Reads everything. What is found is what must be found from then on. */
  async check(bucket = this.#bucket): Promise<void> {
    for (const [key, possible] of this.#possible) {
      const found = await (await bucket.get(key))?.bytes();
      const match = possible.find((value) =>
        value === null ? found === undefined : sameBytes(found, bytesOf(value.size, value.seed)),
      );
      assert.ok(match !== undefined, `${key} holds ${found?.length} bytes that were not put`);
      this.#possible.set(key, [match]);
    }
    const present = [...this.#possible].filter(([, [value]]) => value !== null);
    const { objects } = await bucket.list();
    const keys = present.map(([key]) => key).sort();
    assert.deepEqual(
      objects.map(({ key }) => key),
      keys,
    );
  }
}

/** A file that no row names is garbage. A row without a file is damage. */
function expectIntact(folder: string): void {
  expect(readStoreState(folder)).toMatchObject({ corrupt: [], missing: [] });
}

/** All system calls with which workerd changes files, and how many fail in the quick form. */
const injections: [calls: string, error: Injection["error"], quickMax: number][] = [
  ["pwrite64", "ENOSPC", 2],
  ["pwrite64", "EIO", 1],
  ["fsync,fdatasync", "EIO", 1],
  ["renameat,renameat2,rename", "EIO", 1],
  ["openat", "EIO", 1],
  ["unlinkat,unlink", "EIO", 1],
];

/** In the long form an injection that no longer meets a call ends the loop; this is a limit. */
const callsMax = 200;

/** With this option, the runtime reads and writes the files of a bucket in Node. */
const inRuntime = [
  worker("export default {};", {
    env: { BUCKET: bucketEntry({ bucket_name: "photos", verify_reads: true }) },
  }),
];

describe.skipIf(noInjection !== null)("a system call that fails", () => {
  it("harms no value, whichever call it is", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder, inRuntime);
    const bucket = new CheckedBucket(store.bucket);
    const fillBucket = async () => {
      await bucket.put("small", 1000);
      await bucket.put("large", 300_000);
      await bucket.put("removed", 300_000);
    };
    await fillBucket();
    const [runtime] = workerdBelow() as [number];
    for (const [calls, error, quickMax] of injections) {
      let injected = 0;
      for (let n = 1; n <= (isLong ? callsMax : quickMax); n++) {
        const failed = await withInjection(runtime, { calls, error, when: `${n}` }, async () => {
          await bucket.put("small", 2000);
          await bucket.put("large", 200_000);
          await bucket.put(`new-${n % 3}`, 100);
          await bucket.delete("removed");
        });
        await bucket.check();
        injected += failed;
        if (failed === 0) break;
        await fillBucket();
      }
      console.log(`${calls} ${error}: ${injected} calls failed`);
      expect(injected).toBeGreaterThan(0);
    }
    expect(bucket.failures.length).toBeGreaterThan(0);
    await store.stop();
    expectIntact(folder);
    const again = await startStore(folder, inRuntime);
    await bucket.check(again.bucket);
    await again.control.collectGarbage("photos");
    await again.stop();
    expectIntact(folder);
  });
});

/** Longer than the time for which the bucket trusts its last look at the file. */
const sporadicMilliseconds = 300;

describe("a folder that is removed while it is in use", () => {
  it.each(isLong ? ["store", "store/databases", "."] : ["store", "."])(
    "%s: no call succeeds",
    async (removed) => {
      const folder = join(temporaryFolder(), "v3");
      const store = await startStore(folder);
      const { bucket } = store;
      await bucket.put("key", "value");
      await delay(sporadicMilliseconds);
      rmSync(join(folder, removed), { recursive: true });

      const message =
        `The folder ${folder}/store was removed while it was in use, so nothing can be stored any ` +
        "more.";
      await expect(bucket.put("key", "lost")).rejects.toThrow(`put: ${message} Restart`);
      await expect(bucket.put("key", bytesOf(300_000))).rejects.toThrow(message);
      await expect(bucket.get("key")).rejects.toThrow(message);
      await expect(bucket.list()).rejects.toThrow(message);
      await expect(bucket.delete("key")).rejects.toThrow(message);
      await store.stop();

      const { bucket: next } = await startStore(folder);
      expect((await next.list()).objects).toEqual([]);
      await next.put("key", "value");
    },
  );

  it("a single read fails", async () => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder);
    await bucket.put("key", "value");
    await delay(sporadicMilliseconds);
    rmSync(join(folder, "store"), { recursive: true });
    await expect(bucket.get("key")).rejects.toThrow("was removed while it was in use");
  });

  it("a busy bucket says how many acknowledged writes may be lost", async () => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder);
    let acknowledged = 0;
    let isRemoved = false;
    let failure = "";
    for (let index = 0; failure === ""; index++) {
      if (index === 50) {
        rmSync(join(folder, "store"), { recursive: true });
        isRemoved = true;
      }
      try {
        await bucket.put(`key-${index}`, "value");
        if (isRemoved) acknowledged++;
      } catch (error) {
        failure = (error as Error).message;
      }
    }
    expect(failure).toContain("was removed while it was in use");
    const said = /The last (?:write|(\d+) writes) that (?:was|were) acknowledged/.exec(failure);
    const count = said === null ? 0 : Number(said[1] ?? 1);
    expect(count).toBeGreaterThanOrEqual(acknowledged);
  });

  it("zones: the record API refuses, and names the folder", async () => {
    const project = temporaryFolder();
    const table = { email: "a@example.org", key: "k".repeat(37), zones: [{ name: "example.org" }] };
    writeFileSync(
      join(project, "wrangler.jsonc"),
      JSON.stringify({ name: "p", compatibility_date: "2026-08-01", dns: table }),
    );
    const dns = await startDns({
      configPath: join(project, "wrangler.jsonc"),
      port: 0,
      dnsPort: 0,
      log: () => {},
    });
    onTestFinished(() => dns.stop());
    const call = async (method: string, path: string, body?: object) => {
      const headers = {
        "x-auth-email": table.email,
        "x-auth-key": table.key,
        "content-type": "application/json",
      };
      const response = await fetch(`${dns.url}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as { result: { id: string }[]; errors: { message: string }[] };
    };
    const { result } = await call("GET", "/zones");
    const records = `/zones/${result[0]?.id}/dns_records`;
    const record = { type: "A", name: "a.example.org", content: "192.0.2.1" };
    expect((await call("POST", records, record)).errors).toEqual([]);
    await delay(sporadicMilliseconds);
    const folder = join(project, ".wrangler/state/v3/dns");
    rmSync(folder, { recursive: true });
    for (const name of ["b.example.org", "c.example.org"]) {
      const { errors } = await call("POST", records, { ...record, name });
      expect(errors[0]?.message).toContain(`The folder ${folder} was removed while it was in use`);
    }
    const { errors } = await call("GET", records);
    expect(errors[0]?.message).toContain("was removed while it was in use");
  });
});

describe("a folder that cannot be used", () => {
  it("a file where the folder should be is named", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "store"), "a file");
    await expect(startFailing(folder)).rejects.toThrow(
      `${folder}/store is a file, but a folder is needed there. Move the file.`,
    );
  });

  it.skipIf(process.getuid?.() === 0)("a folder without permission is named", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "store"), { mode: 0o500 });
    await expect(startFailing(folder)).rejects.toThrow(
      `This user may not write to ${folder}/store`,
    );
  });
});

/** Starts a store that should not start. Miniflare's `dispose` rejects with the same error. */
async function startFailing(folder: string): Promise<never> {
  const { Miniflare } = await import("miniflare");
  const miniflare = new Miniflare({
    resourcePersistencePath: folder,
    workers: [worker("export default {};")],
  });
  try {
    await miniflare.ready;
  } finally {
    await miniflare.dispose().catch(() => {});
  }
  throw new Error("The store started");
}
