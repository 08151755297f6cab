/** Copies of a state folder: after an orderly end, and older databases beside newer files. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import type { RestorationStep, RestoredValue } from "../../src/store/core/operations.ts";
import { encodeFrame } from "../../src/store/client/message.ts";
import { backupBuckets } from "../../src/store/node/backup.ts";
import { LocalBuckets } from "../../src/store/node/local-bucket.ts";
import type { StoreBucket } from "../../src/types/store.ts";
import { createProject, ledgeDev } from "../support/dev-process.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { bucketDatabase, letTimePass, openBucketDatabase } from "../support/databases.ts";
import { StoreProject } from "../support/store-command.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";
import { waitUntil } from "./support/wait.ts";

/** The databases of the store and of the zones, with their logs, relative to the folder. */
function databaseFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /(^|\/)(store|dns)\/.*\.sqlite(?:-wal|-shm)?$/.test(name),
  );
}

/** Copies the databases, which must have no log. */
function copyDatabases(folder: string): string {
  const target = temporaryFolder();
  const files = databaseFiles(folder);
  expect(files.filter((name) => !name.endsWith(".sqlite"))).toEqual([]);
  for (const name of files) cpSync(join(folder, name), join(target, name));
  return target;
}

describe("an orderly end leaves whole databases without a log", () => {
  it("when Miniflare is disposed of", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("small", "value");
    await first.stop();
    const { bucket } = await startStore(copyDatabases(folder));
    expect(await (await bucket.get("small"))?.text()).toBe("value");
  });

  it("when a command was the owner", async () => {
    const project = new StoreProject();
    expect(await project.start("put", "photos/key", "-").end("value")).toMatchObject({ code: 0 });
    const copy = copyDatabases(project.path(".wrangler/state"));
    const got = await project.store("get", "photos/key", "-", "--persist-to", copy);
    expect(got).toMatchObject({ text: "value", code: 0 });
  });

  it("when ledge dev ends by a signal: buckets and zones", async () => {
    const folder = createProject({
      "index.mjs": `export default {
        async fetch(request, { PHOTOS }) {
          await PHOTOS.put("key", "value");
          return Response.json(true);
        },
      };`,
      "wrangler.json": {
        name: "project",
        main: "index.mjs",
        compatibility_date: "2026-08-01",
        store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
        dns: { zones: [{ name: "example.org" }] },
      },
    });
    const dev = ledgeDev(folder);
    expect((await fetch(await dev.url())).ok).toBe(true);
    await dev.end("SIGTERM");
    const copy = copyDatabases(join(folder, ".wrangler/state"));
    const tables = databaseFiles(copy).flatMap((name) => {
      const database = new DatabaseSync(join(copy, name), { readOnly: true });
      const rows = database.prepare("SELECT name FROM sqlite_master").all();
      database.close();
      return rows.map((row) => row["name"]);
    });
    expect(tables).toEqual(expect.arrayContaining(["objects", "zones"]));
  });
});

const size = 200_000;

/** A store with older copies of its database, and with files that only its newer database names. */
interface AgedStore {
  readonly folder: string;
  readonly newer: string;
  /** A copy after an orderly end. */
  readonly older: string;
  /** A copy that was made while the bucket was in use. */
  readonly olderWithLog: string;
  /** The database of another bucket that has files, too. */
  readonly other: string;
}

const suffixes = ["", "-wal", "-shm"];

function copyDatabase(from: string, to: string): void {
  for (const suffix of suffixes) {
    rmSync(to + suffix, { force: true });
    if (existsSync(from + suffix)) cpSync(from + suffix, to + suffix);
  }
}

async function agedStore(): Promise<AgedStore> {
  const folder = temporaryFolder();
  const database = bucketDatabase(folder);
  const copies = temporaryFolder();
  const older = join(copies, "older");
  const olderWithLog = join(copies, "older-with-log");
  const newer = join(copies, "newer");
  const env = { OTHER: bucketEntry({ bucket_name: "other" }) };
  const first = await startStore(folder, [worker("export default {};", { env })]);
  await first.bucket.put("shared", bytesOf(size, 1));
  await first.bucket.put("replaced", bytesOf(size, 2));
  const { OTHER: other } = await first.miniflare.getBindings<{ OTHER: StoreBucket }>();
  await other.put("foreign", bytesOf(size, 9));
  copyDatabase(database, olderWithLog);
  await first.stop();
  copyDatabase(database, older);
  expect([older, olderWithLog].map((path) => existsSync(`${path}-wal`))).toEqual([false, true]);
  const second = await startStore(folder);
  await second.control.collectGarbage("photos");
  await second.bucket.put("new", bytesOf(size, 3));
  await second.bucket.put("replaced", bytesOf(size, 4));
  await waitUntil(
    () => markTexts(folder).includes("4"),
    () => markTexts(folder).join(),
  );
  await second.stop();
  copyDatabase(database, newer);
  return { folder, newer, older, olderWithLog, other: bucketDatabase(folder, "other") };
}

/** What the marks of the bucket's files say: the generation of a database. */
function markTexts(folder: string): string[] {
  const blobs = join(folder, "store/blobs/photos");
  return readdirSync(blobs)
    .filter((name) => name.startsWith("database."))
    .map((name) => readFileSync(join(blobs, name), "utf8"));
}

async function expectNewObjects(folder: string): Promise<void> {
  const store = await startStore(folder);
  const { bucket, control } = store;
  await control.collectGarbage("photos");
  for (const [key, seed] of [
    ["shared", 1] as const,
    ["new", 3] as const,
    ["replaced", 4] as const,
  ]) {
    expect(sameBytes(await (await bucket.get(key))?.bytes(), bytesOf(size, seed))).toBe(true);
  }
  await store.stop();
}

describe("a database that is not the one of its files", () => {
  it("removes no file: an older copy, the database of another bucket, and none", async () => {
    const { folder, newer, ...copies } = await agedStore();
    const files = blobFiles(folder).toSorted();
    // A copy that is used for a second time is known to be older, too.
    const replacements = [copies.older, null, copies.olderWithLog, copies.other, "missing"];
    for (const path of replacements) {
      if (path !== null) copyDatabase(path, bucketDatabase(folder));
      const store = await startStore(folder);
      const { bucket, control } = store;
      expect(await bucket.get("new"), `${path}`).toBeNull();
      expect(await control.collectGarbage("photos"), `${path}`).toBe(0);
      await store.stop();
      expect(blobFiles(folder).toSorted(), `${path}`).toEqual(files);
    }
    copyDatabase(newer, bucketDatabase(folder));
    await expectNewObjects(folder);

    // More files than the newer database has named: its generations are passed.
    copyDatabase(copies.older, bucketDatabase(folder));
    for (const start of [0, 10]) {
      const store = await startStore(folder);
      const { bucket, control } = store;
      for (let index = 0; index < 5; index++)
        await bucket.put(`later-${start + index}`, bytesOf(size, 7));
      await control.collectGarbage("photos");
      await store.stop();
      expect(blobFiles(folder)).toEqual(expect.arrayContaining(files));
    }
    copyDatabase(newer, bucketDatabase(folder));
    await expectNewObjects(folder);
  });

  it("is named by check and by gc, and gc --lost gives the files up", async () => {
    const project = new StoreProject();
    const folder = project.persistPath;
    const store = await startStore(folder);
    await store.bucket.put("old", bytesOf(size));
    const older = join(temporaryFolder(), "older");
    copyDatabase(bucketDatabase(folder), older);
    await store.bucket.put("new", bytesOf(size));
    await store.stop();
    copyDatabase(older, bucketDatabase(folder));
    expect(await project.json("list", "photos")).toMatchObject({ key: "old" });
    expect(blobFiles(folder)).toHaveLength(2);
    const checked = await project.store("check", "photos");
    expect(checked.text).toContain("replaced by another or by an older copy. The files are kept.");
    expect((await project.store("gc")).errors).toContain('The files of "photos" are kept');
    expect(blobFiles(folder)).toHaveLength(2);
    expect((await project.store("gc", "--lost")).text).toContain("Removed 1 unused file");
    expect(await project.store("check", "photos")).toMatchObject({ code: 0 });
    expect(blobFiles(folder)).toHaveLength(1);
  });
});

/** Puts a value of 200 KB under two keys, one after the other, and replaces other values beside them. */
const overwriting = `
  export default {
    async fetch(request, { BUCKET }) {
      const n = new URL(request.url).searchParams.get("n");
      const put = (key) =>
        BUCKET.put(key, new Uint8Array(${size}).fill(Number(n)), { customMetadata: { n } });
      const others = Promise.all([1, 2, 3, 4].map((index) => put("other-" + index)));
      await put("first");
      await put("second");
      await BUCKET.put("inline", n);
      await others;
      return new Response(n);
    },
  };`;

describe("ledge store backup under load", () => {
  it("has the state of one moment, and fails no write", async () => {
    const project = new StoreProject();
    const { miniflare } = await startStore(project.persistPath, [worker(overwriting)]);
    const load = { isOn: true };
    let rounds = 0;
    const writeAll = async (): Promise<void> => {
      for (let n = 1; load.isOn; n++) {
        const response = await miniflare.dispatchFetch(`http://script/?n=${n}`);
        expect(await response.text()).toBe(String(n));
        rounds = n;
      }
    };
    const loaded = writeAll();
    try {
      for (const name of ["one", "two"]) {
        const before = rounds;
        await waitUntil(
          () => rounds > before + 1,
          () => `${rounds} rounds`,
        );
        const acknowledged = rounds;
        // The command verifies the hash of every object in the backup.
        const ended = await project.start("backup", name).end();
        expect(ended).toMatchObject({ code: 0, errors: "" });
        // A backup has the form of a state folder.
        const { bucket } = await startStore(project.path(name));
        const numberOf = async (key: string) =>
          Number((await bucket.head(key))?.customMetadata?.["n"]);
        const [first, second] = [await numberOf("first"), await numberOf("second")];
        expect(second).toBeGreaterThanOrEqual(acknowledged);
        expect([0, 1]).toContain(first - second);
        expect([0, 1]).toContain(second - Number(await (await bucket.get("inline"))?.text()));
      }
    } finally {
      load.isOn = false;
      await loaded;
    }
  });
});

const count = 12;
const keyOf = (index: number): string => `key-${String(index).padStart(2, "0")}`;

const all = Array.from({ length: count }, (_, index) => keyOf(index));

it("ledge store backup copies files that the bucket removes meanwhile", async () => {
  const folder = temporaryFolder();
  const storeFolder = join(folder, "store");
  const { bucket } = await startStore(folder);
  for (const key of all) await bucket.put(key, bytesOf(size));
  const local = new LocalBuckets(storeFolder);
  onTestFinished(() => local.close());
  const files = blobFiles(folder);
  // Called when the first of several copies is made.
  const onFile = () => files.splice(0).forEach((file) => rmSync(file));
  const options = { local, storeFolder, bucketNames: ["photos"], folder: temporaryFolder() };
  expect(await backupBuckets({ ...options, onFile })).toMatchObject([{ objects: count }]);
});

/** All objects are whole, and no other file is left once garbage is collected. */
async function expectWhole(project: StoreProject, bucket: StoreBucket): Promise<string[]> {
  const keys = (await bucket.list()).objects.map(({ key }) => key);
  for (const key of keys) {
    const seed = key === "later" ? 99 : Number(key.slice(-2));
    expect(sameBytes(await (await bucket.get(key))?.bytes(), bytesOf(size, seed))).toBe(true);
  }
  expect(await project.store("gc")).toMatchObject({ code: 0, errors: "" });
  expect(blobFiles(project.persistPath)).toHaveLength(keys.length);
  return keys;
}

/** A served bucket with a backup of it, and with one object more. */
async function backedUp() {
  const project = new StoreProject();
  const store = await startStore(project.persistPath);
  const { bucket } = store;
  for (let index = 0; index < count; index++) await bucket.put(keyOf(index), bytesOf(size, index));
  expect(await project.store("backup", "made")).toMatchObject({ code: 0 });
  await bucket.put("later", bytesOf(size, 99));
  const files = () => blobFiles(project.persistPath).length;
  expect(files()).toBe(count + 1);
  return { project, store, bucket, files };
}

function read(folder: string, query: string): Record<string, RestoredValue>[] {
  const database = openBucketDatabase(folder, true);
  try {
    return database.prepare(query).all() as Record<string, RestoredValue>[];
  } finally {
    database.close();
  }
}

describe("a command that is killed", () => {
  it("during a backup leaves the bucket and no file, and the next backup takes its place", async () => {
    const { project, bucket, files } = await backedUp();
    const copies = () =>
      existsSync(project.path("out/store/blobs")) ? blobFiles(project.path("out")).length : 0;
    const phases = [
      () => existsSync(project.path("out/incomplete.lock")),
      () => files() > count + 5,
      () => copies() > 3,
    ];
    for (const [phase, isReached] of phases.entries()) {
      const running = project.start("backup", "out");
      let hasEnded = false;
      void running.end().then(() => (hasEnded = true));
      await waitUntil(
        () => isReached() || hasEnded,
        () => `phase ${phase}`,
      );
      await running.kill();
      expect(await expectWhole(project, bucket)).toEqual([...all, "later"]);
      // The command may have been faster than the kill.
      const isMade = existsSync(project.path("out/ledge-backup.json"));
      const { code: restored } = await project.store("restore", "out");
      const { code: again } = await project.store("backup", "out");
      expect([restored, again]).toEqual(isMade ? [0, 1] : [1, 0]);
      rmSync(project.path("out"), { recursive: true });
    }
  });

  it("during a restore leaves the bucket as before or restored, and no file", async () => {
    const { project, bucket, files } = await backedUp();
    for (const more of [1, count]) {
      await bucket.put("later", bytesOf(size, 99));
      const before = files();
      const running = project.start("restore", "made");
      let hasEnded = false;
      void running.end().then(() => (hasEnded = true));
      await waitUntil(
        () => files() >= before + more || hasEnded,
        () => `${files()} files`,
      );
      await running.kill();
      const keys = await expectWhole(project, bucket);
      expect([all, [...all, "later"]]).toContainEqual(keys);
    }
    expect(await project.store("restore", "made")).toMatchObject({ code: 0 });
    expect(await expectWhole(project, bucket)).toEqual(all);
  });

  it("between the rows of a restore leaves tables, which the next runtime drops without a call", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    await store.bucket.put("key", "value");
    const local = new LocalBuckets(join(folder, "store"));
    const send = async (step: RestorationStep): Promise<unknown> => {
      const request = { body: encodeFrame(step) };
      const answer = await local.owner.run((to) => to.request("/restore/photos", request));
      return JSON.parse(answer.toString());
    };
    const rows = read(folder, "SELECT * FROM objects").map((row) => Object.values(row));
    expect(await send({ id: "1", step: "begin" })).toBe(true);
    expect(await send({ id: "1", step: "rows", table: "objects", rows })).toBe(true);
    await local.close();
    expect(await (await store.bucket.get("key"))?.text()).toBe("value");
    await store.stop();
    const staged = () => read(folder, "SELECT name FROM sqlite_master WHERE name GLOB 'staged_*'");
    expect(read(folder, "SELECT * FROM staged_objects")).toHaveLength(1);
    // The alarm, one minute after the last use, becomes due while no runtime runs.
    letTimePass(folder, 61_000);
    const { bucket } = await startStore(folder);
    await waitUntil(
      () => staged().length === 0,
      () => JSON.stringify(staged()),
    );
    expect(await (await bucket.get("key"))?.text()).toBe("value");
  });

  it("and an owner that ends during a restore does not end the restore", async () => {
    const { project, store, files } = await backedUp();
    const running = project.start("restore", "made").end();
    await waitUntil(
      () => files() > count + 2,
      () => `${files()} files`,
    );
    await store.stop();
    expect(await running).toMatchObject({ code: 0 });
    const { bucket } = await startStore(project.persistPath);
    expect(await expectWhole(project, bucket)).toEqual(all);
  });
});
