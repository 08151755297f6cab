/** Copies of a state folder: after an orderly end, and older databases beside newer files. */
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createProject, ledgeDev } from "../support/dev-process.ts";
import { StoreProject } from "../support/store-command.ts";
import { startStore, temporaryFolder } from "../support/store.ts";

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
