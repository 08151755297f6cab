/** A state folder that cannot be used: every command says so in a sentence, without a stack. */
import { spawnSync } from "node:child_process";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createProject } from "../support/dev-process.ts";
import { formatVersion } from "../../src/store/core/errors.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { StoreProject } from "../support/store-command.ts";

const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const files = {
  "wrangler.json": {
    name: "project",
    main: "index.js",
    compatibility_date: "2026-08-01",
    store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
  },
  "index.js": "export default {};",
  "proxy.mjs": 'import { getPlatformProxy } from "ledge"; await getPlatformProxy();',
};

/** The test may run as root, whom no permission stops. */
const anotherUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

function run(folder: string, words: string, user = {}) {
  const node = [process.execPath, ...(words.endsWith(".mjs") ? [] : [program])];
  const [file, ...args] = [...node, ...words.split(" ")] as [string, ...string[]];
  return spawnSync(file, args, { cwd: folder, encoding: "utf8", timeout: 60_000, ...user });
}

it("a file where the state folder should be: every command names the file", async () => {
  const folder = createProject(files);
  writeFileSync(join(folder, "state"), "");
  const message =
    `${join(folder, "state")} is a file, but a folder is needed there. Move the file. ` +
    "Or name another folder for the state (--persist-to).\n";
  for (const words of ["store list photos", "store check", "store buckets", "dns zones"]) {
    const ran = await runInProcess(folder, `${words} --persist-to state`.split(" "));
    expect({ words, ...ran }).toEqual({ words, code: 1, out: "", error: message });
  }
  const dev = run(folder, "dev --no-dns --port 0 --persist-to state");
  expect(dev).toMatchObject({ status: 1, stdout: "", stderr: message });
  writeFileSync(join(folder, ".wrangler"), "");
  const { stderr } = run(folder, "proxy.mjs");
  expect(stderr).toContain(`UserError: ${join(folder, ".wrangler")} is a file`);
});

describe("a folder that this user may not write to", () => {
  it.each(["store list photos", "dns zones", "dev --no-dns --port 0"])(
    "ledge %s names it",
    (words) => {
      const folder = createProject(files);
      chmodSync(folder, 0o555);
      const { status, stderr } = run(folder, words, anotherUser);
      chmodSync(folder, 0o755);
      expect(status).toBe(1);
      expect(stderr).toMatch(
        /^This user may not write to \S+\.wrangler\S*\. Change the owner or the /,
      );
      expect(stderr).not.toMatch(/^ +at /m);
    },
  );
});

it("a database of a newer format: every command names the bucket and the formats", async () => {
  const here = new StoreProject();
  here.write("a.txt", "a");
  await here.store("put", "photos/a.txt", "a.txt");
  const databases = join(here.persistPath, "store/databases/ledge-store-bucket");
  const name = readdirSync(databases).find((file) => /^[0-9a-f]{64}\.sqlite$/.test(file));
  const database = new DatabaseSync(join(databases, name as string));
  database.exec("UPDATE format SET version = 1000");
  database.close();

  const miniflare = await here.serve();
  const commands = ["list photos", "head photos/a.txt", "get photos/a.txt", "put photos/b a.txt"];
  const others = [
    "delete photos/a.txt",
    "cp photos/a.txt photos/b",
    "stats",
    "check",
    "gc",
    "reset --yes",
  ];
  const folders = ["import photos .", "export photos copy"];
  for (const words of [...commands, ...others, ...folders]) {
    const { code, errors } = await here.store(...words.split(" "));
    expect([words, code]).toEqual([words, 1]);
    expect(errors).toContain(
      'Cannot open bucket "photos": its database has format 1000, and this version of Ledge has ' +
        `format ${formatVersion}. Export the bucket with the version of Ledge that wrote the database ` +
        '("ledge store export"), and import the objects into another state folder.',
    );
    expect(errors).not.toMatch(/^ +at /m);
  }
  const { BUCKET } = await miniflare.getBindings<{ BUCKET: { list(): Promise<unknown> } }>();
  await expect(BUCKET.list()).rejects.toThrow(
    'list: Cannot open bucket "photos": its database has',
  );
});
