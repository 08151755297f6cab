/** Size of a bucket's database on disk, and databases of other formats. */
import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { formatVersion } from "../../src/store/core/errors.ts";
import { openBuckets } from "../../src/store/node/endpoint.ts";
import { bucketDatabase, checkpoint } from "../support/databases.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";

const count = 4096;
const size = 1024;

/** Writes the objects inside of workerd: Miniflare's proxy would take a minute for thousands. */
const script = `
  export default {
    async fetch(request, { BUCKET }) {
      const turn = (from, call) =>
        Promise.all(Array.from({ length: 64 }, (_, index) => call("key-" + (from + index))));
      const value = new Uint8Array(${size});
      const calls = {
        put: (key) => BUCKET.put(key, value.fill(key.length)),
        delete: (key) => BUCKET.delete(key),
      };
      const { pathname } = new URL(request.url);
      for (let from = 0; from < ${count}; from += 64) await turn(from, calls[pathname.slice(1)]);
      return new Response();
    },
  };`;

/** Bytes of the bucket's database and its log files. */
function databaseBytes(folder: string): number {
  const databases = join(folder, "store", "databases", "ledge-store-bucket");
  return readdirSync(databases)
    .filter((name) => /^[0-9a-f]{64}\.sqlite/.test(name))
    .reduce((sum, name) => sum + lstatSync(join(databases, name)).size, 0);
}

describe("the database of a bucket", () => {
  it("is slightly larger than its objects, and shrinks when they are deleted", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder, [worker(script)]);
    const { miniflare, bucket } = store;
    await miniflare.dispatchFetch("http://script/put");
    // The log holds pages that the database file holds too.
    const log = 4.2 * 1024 * 1024;
    expect(databaseBytes(folder)).toBeLessThan(1.3 * count * size + log);

    await miniflare.dispatchFetch("http://script/delete");
    await expect.poll(() => databaseBytes(folder)).toBeLessThan(200_000);
    expect((await bucket.list()).objects).toEqual([]);
    await bucket.put("key", "value");
    await store.stop();
    const { bucket: later } = await startStore(folder);
    expect(await (await later.get("key"))?.text()).toBe("value");
  });

  it("shrinks while a client process uses it, which continues to work", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder, [worker(script)]);
    const client = await startStore(folder);
    await owner.miniflare.dispatchFetch("http://script/put");
    expect(await client.bucket.head("key-1")).not.toBeNull();
    await owner.miniflare.dispatchFetch("http://script/delete");
    await expect.poll(() => databaseBytes(folder)).toBeLessThan(200_000);
    expect(await client.bucket.head("key-1")).toBeNull();
    await client.bucket.put("key", "of the client");
    expect(await (await owner.bucket.get("key"))?.text()).toBe("of the client");
  });
});

describe("a runtime", () => {
  it("opens the databases of its buckets before the first call", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    await store.bucket.put("key", "value");
    await store.stop();
    const log = `${bucketDatabase(folder)}-wal`;
    checkpoint(bucketDatabase(folder));
    expect(existsSync(log)).toBe(false);
    await startStore(folder);
    await expect.poll(() => existsSync(log)).toBe(true);
  });

  it("creates no database for a bucket that is not used", async () => {
    const folder = temporaryFolder();
    await startStore(folder);
    // As the runtime's process has done already.
    await openBuckets(join(folder, "store"));
    expect(databaseBytes(folder)).toBe(0);
  });
});

describe("a database of an earlier version", () => {
  it("continues its uploads, which have no condition", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    const { uploadId } = await store.bucket.createMultipartUpload("key");
    const part = await store.bucket.resumeMultipartUpload("key", uploadId).uploadPart(1, "part");
    await store.stop();
    const database = new DatabaseSync(bucketDatabase(folder));
    database.exec("ALTER TABLE uploads DROP COLUMN only_if");
    database.close();
    const { bucket } = await startStore(folder);
    const later = await bucket.createMultipartUpload("later");
    await bucket.resumeMultipartUpload("key", uploadId).complete([part]);
    expect(await (await bucket.get("key"))?.text()).toBe("part");
    await later.abort();
  });
});

describe("a database of another format", () => {
  it.each([
    ["newer", "UPDATE format SET version = 1000", "UPDATE format SET version = 1", 1000],
    ["unknown", "ALTER TABLE format RENAME TO f", "ALTER TABLE f RENAME TO format", 0],
  ])("is refused and not changed: a %s one", async (_, change, restore, version) => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    const { bucket } = store;
    await bucket.put("key", "value");
    await store.stop();
    const execute = (statement: string): void => {
      const database = new DatabaseSync(bucketDatabase(folder));
      database.exec(statement);
      database.close();
    };
    execute(change);

    const later = await startStore(folder);
    await expect(later.bucket.get("key")).rejects.toThrow(
      `get: Cannot open bucket "photos": its database has format ${version}, and this version of ` +
        `Ledge has format ${formatVersion}. Export the bucket with the version of Ledge that wrote ` +
        'the database ("ledge store export"), and import the objects into another state folder. (10001)',
    );
    await later.stop();
    execute(restore);
    const { bucket: last } = await startStore(folder);
    expect(await (await last.get("key"))?.text()).toBe("value");
  });
});
