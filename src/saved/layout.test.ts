import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { readStateFiles } from "./layout.ts";

const blob = `0123456789abcdef.${"a".repeat(32)}`;

/** What a file counts as. */
const cases: Record<string, "database" | "value" | "mark" | "nothing"> = {
  "kv/names/blobs/1f": "value",
  "kv/names/blobs/.kj-tmp.1.partial": "nothing",
  "kv/objects/1f.sqlite": "database",
  "kv/objects/1f.sqlite-wal": "nothing",
  "kv/objects/1f.sqlite-shm-aside": "nothing",
  "kv/objects/metadata.sqlite": "database",
  "r2/blobs/blobs/1f": "value",
  "later-kind/deep/er/1f.sqlite": "database",
  "later-kind/settings.json": "database",
  [`store/blobs/photos/${blob}`]: "value",
  [`store/blobs/photos/.${blob}.1.2.tmp`]: "nothing",
  "store/blobs/photos/database.0123456789abcdef": "mark",
  "store/databases/objects/1f.sqlite": "database",
  "store/databases/reserve": "nothing",
  "store/databases/reserve-files/1": "nothing",
  "store/owner.json": "nothing",
  "store/runs/0123456789abcdef": "nothing",
  "store/spool/process-1/1": "nothing",
  "dns/do/objects/1f.sqlite": "database",
  "dns/format": "database",
  "dns/sockets/api": "nothing",
  "explorer/token": "nothing",
  "s3/credentials.json": "nothing",
  "observability/objects/1f.sqlite": "nothing",
  "ledge-start.lock": "nothing",
};

test("readStateFiles() tells databases and values from what is no state", () => {
  const folder = temporaryFolder();
  for (const path of Object.keys(cases)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "");
  }
  const { databases, values, marks } = readStateFiles(folder);
  const found = Object.keys(cases).map((path) => {
    if (databases.includes(path)) return [path, "database"];
    if (values.has(path)) return [path, "value"];
    return [path, marks.includes(path) ? "mark" : "nothing"];
  });
  expect(Object.fromEntries(found)).toEqual(cases);
  expect(readStateFiles(join(folder, "none")).databases).toEqual([]);
});
