import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { boundResources } from "./bound-resources.ts";
import { readSeed, type Seed } from "./seed-folder.ts";

const configuration = {
  name: "shop",
  store_buckets: [
    { binding: "PHOTOS", bucket_name: "photos", preview_bucket_name: "photos-local" },
    { binding: "ARCHIVE", bucket_name: "archive", remote: "cluster" },
  ],
  remotes: {
    cluster: { endpoint: "https://s3.example.net", access_key_id: "a", secret_access_key: "b" },
  },
  r2_buckets: [
    { binding: "PHOTOS", bucket_name: "photos" },
    { binding: "LOGS", bucket_name: "logs" },
  ],
  d1_databases: [{ binding: "DB", database_name: "users", database_id: "0123" }],
  kv_namespaces: [{ binding: "SETTINGS", id: "4567" }],
};

type Files = Readonly<Record<string, string | object>>;

/** Reads a seed. In messages, "~" is the folder of the project. */
function read(files: Files, table: object = configuration): Seed {
  const folder = mkdtempSync(join(tmpdir(), "ledge-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const all = { "wrangler.json": table, "seed/README.md": "About the seed", ...files };
  for (const [name, content] of Object.entries(all)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 1));
  }
  try {
    return readSeed(join(folder, "seed"), boundResources([readConfig({ folder })]));
  } catch (error) {
    throw new Error((error as Error).message.replaceAll(folder, "~"), { cause: error });
  }
}

function mistakes(files: Files, table?: object): string[] {
  try {
    read(files, table);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

describe("readSeed()", () => {
  it("makes objects of files, with the metadata of the manifest", () => {
    const { puts } = read({
      "seed/buckets/PHOTOS/trips/cat.png": "cat",
      "seed/buckets/PHOTOS/trips/.DS_Store": "",
      "seed/buckets/PHOTOS/plain": "plain",
      "seed/buckets/PHOTOS.json": {
        "trips/cat.png": {
          key: "trips//cat",
          httpMetadata: { cacheControl: "no-store", cacheExpiry: "2030-01-01" },
          customMetadata: { by: "Ada" },
          storageClass: "InfrequentAccess",
        },
      },
      "seed/buckets/photos-local/a.txt": "by the name of the local bucket",
      "seed/buckets/logs/b.txt": "in a bucket of the simulator",
    });
    const shown = puts.map(({ target, key, options }) => ({
      ...options,
      at: target.binding,
      key,
    }));
    expect(shown).toEqual([
      { at: "PHOTOS", key: "plain", httpMetadata: {} },
      {
        at: "PHOTOS",
        key: "trips//cat",
        httpMetadata: {
          contentType: "image/png",
          cacheControl: "no-store",
          cacheExpiry: new Date("2030-01-01"),
        },
        customMetadata: { by: "Ada" },
        storageClass: "InfrequentAccess",
      },
      { at: "LOGS", key: "b.txt", httpMetadata: { contentType: "text/plain" } },
      { at: "PHOTOS", key: "a.txt", httpMetadata: { contentType: "text/plain" } },
    ]);
  });

  it("reads values by their keys, and the list of wrangler kv bulk put", () => {
    const { puts } = read({
      "seed/kv/SETTINGS.json": {
        text: "plain",
        json: { value: { theme: "dark" }, metadata: [1], expirationTtl: 60 },
      },
      "seed/kv/4567.json": [
        { key: "bytes", value: "AAE=", base64: true, expiration: 2_000_000_000 },
        { key: "short", value: "v", expiration_ttl: 90 },
      ],
    });
    expect(puts.map(({ key, value, options }) => ({ key, value, ...options }))).toEqual([
      { key: "bytes", value: Buffer.of(0, 1), expiration: 2_000_000_000 },
      { key: "short", value: "v", expirationTtl: 90 },
      { key: "text", value: "plain" },
      { key: "json", value: '{"theme":"dark"}', metadata: [1], expirationTtl: 60 },
    ]);
  });

  it("reads the migrations of a database before its statements, in the order of their names", () => {
    const { sql } = read({
      "migrations/0010_last.sql": "ALTER TABLE a ADD c",
      "migrations/0002_first.sql": "CREATE TABLE a (b);",
      "migrations/README.md": "",
      "seed/d1/users/2.sql": "INSERT INTO a VALUES (2)",
      "seed/d1/users/1.sql": "INSERT INTO a VALUES (1); -- one\n",
      "seed/d1/DB.sql": "INSERT INTO a VALUES (0);",
    });
    const texts = sql.flatMap(({ statements }) => statements.map(({ text }) => text));
    expect(texts.filter((text) => !text.startsWith("CREATE TABLE IF NOT"))).toEqual([
      "CREATE TABLE a (b)",
      `INSERT INTO "d1_migrations" (name) VALUES ('0002_first.sql')`,
      "ALTER TABLE a ADD c",
      `INSERT INTO "d1_migrations" (name) VALUES ('0010_last.sql')`,
      "INSERT INTO a VALUES (0)",
      "INSERT INTO a VALUES (1)",
      "INSERT INTO a VALUES (2)",
    ]);
  });

  it("reads the migrations that each of several databases names", () => {
    const files = {
      "migrations/0001.sql": "SELECT 1",
      "drizzle/0000_a/migration.sql": "SELECT 2",
      "drizzle/journal.sql": "SELECT 3",
    };
    const { sql } = read(files, {
      d1_databases: [
        { binding: "A", database_id: "a" },
        {
          binding: "B",
          migrations_dir: "./drizzle",
          migrations_pattern: "drizzle/*/migration.sql",
        },
      ],
    });
    expect(sql.map(({ target, statements }) => [target.binding, statements[1]?.text])).toEqual([
      ["B", "SELECT 2"],
    ]);
  });

  it("takes the name of a zone from the name of the file, and else from $ORIGIN", () => {
    const { zones } = read({
      "seed/zones/example.com.zone": "www A 192.0.2.1",
      "seed/zones/main.zone": "; main\n$ORIGIN example.org.\nwww A 192.0.2.1",
    });
    expect(zones.map(({ name }) => name)).toEqual(["example.com", "example.org"]);
  });

  it("says all mistakes at once, with their places", () => {
    expect(
      mistakes({
        "seed/bucket/photos/a.txt": "",
        "seed/buckets/photoz/a.txt": "",
        "seed/buckets/photoz/b.txt": "",
        "seed/buckets/archive/a.txt": "",
        "seed/buckets/note.txt": "",
        "seed/buckets/photos.json": { "a.txt": { storageclass: "Standard" }, "b.txt": [] },
        "seed/buckets/photos/a.txt": "",
        "seed/d1/DB2.sql": "",
        "seed/d1/DB/readme.txt": "",
        "seed/kv/SETTINGS.json": {
          a: 1,
          b: { metadata: 1 },
          c: { value: "", expirationTtl: "60" },
        },
        "seed/kv/4567.json": '[\n{ "key": "a" "value": "b" }]',
        "seed/zones/main.zone": "www A 192.0.2.1",
      }),
    ).toEqual([
      '~/seed/bucket: "bucket" is no folder of a seed. Did you mean "buckets"?',
      '~/seed/buckets/archive: The bucket is on the S3 service "cluster", and a seed fills the state folder. Remove it from the seed.',
      "~/seed/buckets/note.txt: This file is not part of a seed: use buckets/BUCKET/KEY for objects, and buckets/BUCKET.json for their metadata.",
      '~/seed/buckets/photos.json:3:3: a.txt.storageclass is not a key; did you mean "storageClass"?',
      "~/seed/buckets/photos.json:5:2: b.txt must be a table, not a list.",
      "~/seed/buckets/photos.json:5:2: b.txt has no file ~/seed/buckets/photos/b.txt.",
      '~/seed/buckets/photoz: "photoz" is no bucket. Did you mean "photos"?',
      "~/seed/d1/DB/readme.txt: This file is not part of a seed: use d1/DATABASE.sql or d1/DATABASE/NAME.sql.",
      '~/seed/d1/DB2.sql: "DB2" is no D1 database. Did you mean "DB"?',
      "~/seed/kv/4567.json:2:14 is not JSON: a comma is expected.",
      '~/seed/kv/SETTINGS.json:2:2: a must be text, or { "value": … }.',
      '~/seed/kv/SETTINGS.json:3:2: b.value is missing. Add it, as in "text".',
      "~/seed/kv/SETTINGS.json:8:3: c.expirationTtl must be a whole number from 1 to 9007199254740991.",
      "~/seed/zones/main.zone: Name the file as its zone, as in zones/example.com.zone.",
    ]);
  });

  it("says that no binding has the kind", () => {
    const files = { "seed/kv/SETTINGS.json": {} };
    expect(mistakes(files, {})).toEqual([
      "~/seed/kv/SETTINGS.json: The configuration file binds no KV namespace.",
    ]);
  });
});
