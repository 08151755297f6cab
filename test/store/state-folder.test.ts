/** Size of a bucket's database on disk, and databases of other formats. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, vi } from "vitest";
import { formatVersion } from "../../src/store/core/errors.ts";
import { RowSeals } from "../../src/store/core/row-seal.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import type { Bucket } from "../../src/store/node/bucket.ts";
import { openBuckets } from "../../src/store/node/endpoint-client.ts";
import { openStoreClient } from "./support/store-client.ts";

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

function openDatabase(folder: string): DatabaseSync {
  const databases = join(folder, "store", "databases", "ledge-store-bucket");
  const name = readdirSync(databases).find((file) => /^[0-9a-f]{64}\.sqlite$/.test(file));
  return new DatabaseSync(join(databases, name as string));
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
    await vi.waitFor(() => expect(databaseBytes(folder)).toBeLessThan(200_000), 10_000);
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
    await vi.waitFor(() => expect(databaseBytes(folder)).toBeLessThan(200_000), 10_000);
    expect(await client.bucket.head("key-1")).toBeNull();
    await client.bucket.put("key", "of the client");
    expect(await (await owner.bucket.get("key"))?.text()).toBe("of the client");
  });
});

const firstFormat = `
  CREATE TABLE objects (key TEXT NOT NULL PRIMARY KEY, version TEXT NOT NULL,
    size INTEGER NOT NULL, etag TEXT NOT NULL, uploaded INTEGER NOT NULL, checksums TEXT NOT NULL,
    storage_class TEXT NOT NULL, http TEXT NOT NULL, custom TEXT NOT NULL, segments TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE blobs (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID, STRICT;
  CREATE TABLE uploads (upload_id TEXT NOT NULL PRIMARY KEY, key TEXT NOT NULL,
    state TEXT NOT NULL, since INTEGER NOT NULL, storage_class TEXT NOT NULL, http TEXT NOT NULL,
    custom TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE INDEX uploads_by_since ON uploads (since);
  CREATE INDEX uploads_by_key ON uploads (key, since, upload_id) WHERE state = 'in progress';
  CREATE TABLE parts (upload_id TEXT NOT NULL, part_number INTEGER NOT NULL,
    size INTEGER NOT NULL, etag TEXT NOT NULL, place ANY NOT NULL,
    PRIMARY KEY (upload_id, part_number)) WITHOUT ROWID, STRICT;`;

/** Converts a bucket's database to the fifth format, which has no released files. */
function convertToFifthFormat(folder: string): void {
  const database = openDatabase(folder);
  database.exec("DROP TABLE released; UPDATE format SET version = 5");
  database.close();
}

/** Converts a bucket's database to the fourth format, which has no keys of customers. */
function convertToFourthFormat(folder: string): void {
  convertToFifthFormat(folder);
  const database = openDatabase(folder);
  database.exec(`
    ALTER TABLE uploads DROP COLUMN ssec_key_md5;
    UPDATE format SET version = 4`);
  database.close();
}

/** Converts a bucket's database to the third format, which has no times of parts and no settings. */
function convertToThirdFormat(folder: string): void {
  convertToFourthFormat(folder);
  const database = openDatabase(folder);
  database.exec(`
    ALTER TABLE uploads DROP COLUMN created;
    ALTER TABLE uploads DROP COLUMN checksum_algorithm;
    ALTER TABLE uploads DROP COLUMN checksum_type;
    ALTER TABLE parts DROP COLUMN uploaded;
    ALTER TABLE parts DROP COLUMN checksums;
    DROP TABLE settings;
    UPDATE format SET version = 3`);
  // The checksums of rows do not cover the columns that are gone.
  const seals = new RowSeals(new TextEncoder());
  const seal = (table: string, where: string, columns: string): void => {
    const update = database.prepare(`UPDATE ${table} SET checksum = ? WHERE ${where} = ?`);
    for (const row of database.prepare(`SELECT ${columns} FROM ${table}`).all()) {
      const values = Object.values(row) as [string, ...(string | number | null)[]];
      update.run(seals.sealColumns(values), values[0]);
    }
  };
  seal("uploads", "upload_id", "upload_id, key, since, storage_class, http, custom");
  seal("parts", "upload_id", "upload_id, part_number, size, etag, place, content_checksum");
  database.close();
}

/** Converts a bucket's database to the second format, which has no checksums. */
function convertToSecondFormat(folder: string): void {
  convertToThirdFormat(folder);
  const database = openDatabase(folder);
  database.exec(`
    UPDATE objects SET segments = (
      SELECT json_group_array(json_array(value -> '$[0]', value -> '$[1]')) FROM json_each(segments)
    ) WHERE segments IS NOT NULL;
    ALTER TABLE objects DROP COLUMN item_checksum;
    ALTER TABLE objects DROP COLUMN checksum;
    ALTER TABLE objects DROP COLUMN content_checksum;
    ALTER TABLE uploads DROP COLUMN checksum;
    ALTER TABLE parts DROP COLUMN checksum;
    ALTER TABLE parts DROP COLUMN content_checksum;
    ALTER TABLE format DROP COLUMN database_id;
    ALTER TABLE format DROP COLUMN has_unsealed_rows;
    DROP TABLE requests;
    UPDATE format SET version = 2`);
  database.close();
}

/** Converts a bucket's database to the first format. */
function convertToFirstFormat(folder: string): void {
  convertToSecondFormat(folder);
  const database = openDatabase(folder);
  const tables = ["objects", "bodies", "blobs", "uploads", "parts"];
  database.exec("DROP INDEX uploads_by_since; DROP INDEX uploads_by_key; DROP TABLE format");
  for (const name of tables) database.exec(`ALTER TABLE ${name} RENAME TO new_${name}`);
  database.exec(firstFormat);
  database.exec(`
    INSERT INTO objects SELECT key, fields ->> '$[0]', fields ->> '$[1]', fields ->> '$[2]',
      fields ->> '$[3]',
      coalesce(fields -> '$[5]', json_object('md5', fields ->> '$[2]')),
      coalesce(fields ->> '$[4]', 'Standard'),
      coalesce(metadata -> '$[0]', '{}'), coalesce(metadata -> '$[1]', '{}'),
      coalesce(segments, json_array(json_array(fields -> '$[1]', body)))
    FROM new_objects;
    INSERT INTO bodies SELECT * FROM new_bodies;
    INSERT INTO blobs SELECT * FROM new_blobs;
    INSERT INTO uploads SELECT * FROM new_uploads;
    INSERT INTO parts SELECT * FROM new_parts`);
  for (const name of tables) database.exec(`DROP TABLE new_${name}`);
  database.close();
}

describe("a database of an earlier format", () => {
  it.each([
    ["first", convertToFirstFormat, false],
    ["second", convertToSecondFormat, false],
    ["third", convertToThirdFormat, false],
    ["fourth", convertToFourthFormat, true],
    ["fifth", convertToFifthFormat, true],
  ])("keeps its objects and uploads: the %s format", async (_, convert, hasTimes) => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    const { bucket } = store;
    const options = {
      httpMetadata: { contentType: "a/b" },
      customMetadata: { name: "value" },
      storageClass: "InfrequentAccess" as const,
    };
    await bucket.put("small", "small");
    await bucket.put("described", "described", options);
    await bucket.put("hashed", "hashed", {
      sha1: createHash("sha1").update("hashed").digest("hex"),
    });
    await bucket.put("large", bytesOf(200_000));
    const done = await bucket.createMultipartUpload("joined");
    await done.complete([await done.uploadPart(1, bytesOf(300_000))]);
    const open = await bucket.createMultipartUpload("open");
    const part = await open.uploadPart(1, "part");
    const include = ["httpMetadata", "customMetadata"] as ("httpMetadata" | "customMetadata")[];
    const before = JSON.stringify(await bucket.list({ include }));
    await store.stop();
    convert(folder);

    const migrated = await startStore(folder);
    const { bucket: later } = migrated;
    expect(JSON.stringify(await later.list({ include }))).toBe(before);
    expect((await later.list()).objects.length).toBe(5);
    expect(await (await later.get("small"))?.text()).toBe("small");
    expect(sameBytes(await (await later.get("large"))?.bytes(), bytesOf(200_000))).toBe(true);
    expect(sameBytes(await (await later.get("joined"))?.bytes(), bytesOf(300_000))).toBe(true);
    const client = openStoreClient(folder);
    const photos = (await client.find("photos")) as Bucket;
    const reference = { key: "open", uploadId: open.uploadId };
    const { parts, upload } = await photos.call({
      method: "listParts",
      ...reference,
      afterPartNumber: 0,
      limit: 10,
    });
    expect(upload).toMatchObject({ ...reference, storageClass: "Standard" });
    // Formats before the fourth do not have the time of a part.
    const uploaded = hasTimes ? parts[0]?.uploaded : upload.created;
    const checksums = { md5: part.etag };
    expect(parts).toEqual([{ ...part, size: 4, uploaded, checksums }]);
    await photos.call({ method: "putSettings", cors: "[]" });
    await client.close();
    await later.resumeMultipartUpload("open", open.uploadId).complete([part]);
    expect(await (await later.get("open"))?.text()).toBe("part");
    // A row that is written now has checksums, beside rows that have none.
    await later.put("described", "described again", options);
    await migrated.stop();
    const { bucket: last } = await startStore(folder);
    expect((await last.list({ include })).objects.length).toBe(6);
    expect((await last.list({ include: ["httpMetadata"] })).objects[0]?.httpMetadata).toEqual(
      options.httpMetadata,
    );
    expect(await (await last.get("described"))?.text()).toBe("described again");
    expect(await (await last.get("hashed"))?.text()).toBe("hashed");
    await last.delete(["small", "described", "hashed", "large", "joined", "open"]);
    expect(blobFiles(folder)).toEqual([]);
  });
});

describe("a runtime", () => {
  it("opens the databases of its buckets before the first call", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    await store.bucket.put("key", "value");
    await store.stop();
    convertToFifthFormat(folder);
    await startStore(folder);
    const version = (): unknown => {
      const database = openDatabase(folder);
      const row = database.prepare("SELECT version FROM format").get();
      database.close();
      return row?.["version"];
    };
    await vi.waitFor(() => expect(version()).toBe(formatVersion), 30_000);
  });

  it("creates no database for a bucket that is not used", async () => {
    const folder = temporaryFolder();
    await startStore(folder);
    // As the runtime's process has done already.
    await openBuckets(join(folder, "store"));
    expect(databaseBytes(folder)).toBe(0);
  });
});

describe("a database of a newer format", () => {
  it("is refused and not changed", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    const { bucket } = store;
    await bucket.put("key", "value");
    await store.stop();
    const database = openDatabase(folder);
    database.exec("UPDATE format SET version = 1000");
    database.close();

    const later = await startStore(folder);
    await expect(later.bucket.get("key")).rejects.toThrow(/\(10001\)$/);
    await later.stop();
    const reopened = openDatabase(folder);
    reopened.exec(`UPDATE format SET version = ${formatVersion}`);
    reopened.close();
    const { bucket: last } = await startStore(folder);
    expect(await (await last.get("key"))?.text()).toBe("value");
  });
});
