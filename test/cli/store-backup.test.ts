/** `ledge store backup` and `restore`: the same objects again, beside a server and without one. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import type { StoreBucket, StoreObject } from "../../src/types/store.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { databasePath } from "../../src/store/node/store-files.ts";
import { flipBit, flipIn } from "../support/databases.ts";
import { blobFiles } from "../support/store.ts";
import { StoreProject } from "../support/store-command.ts";

const partBytes = 5 * 1024 * 1024;

async function run(project: StoreProject, ...words: string[]): Promise<string> {
  const { code, text, errors } = await project.store(...words);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${errors}`);
  return text;
}

/** A project with a server, and its bucket "photos". */
async function served(): Promise<{ project: StoreProject; bucket: StoreBucket }> {
  const project = new StoreProject();
  const miniflare = await project.serve();
  const { BUCKET: bucket } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
  return { project, bucket };
}

/** Everything that a script sees of an object, and its content. */
async function describeObject(bucket: StoreBucket, key: string): Promise<unknown> {
  const object = (await bucket.get(key)) as StoreObject & { bytes(): Promise<Uint8Array> };
  const { version, etag, size, uploaded, httpMetadata, customMetadata, storageClass } = object;
  const content = Buffer.from(await object.bytes()).toString("base64");
  const checksums = object.checksums.toJSON();
  const described = { key, version, etag, size, uploaded, httpMetadata, customMetadata };
  return { ...described, storageClass, checksums, content };
}

async function describeBucket(bucket: StoreBucket): Promise<unknown[]> {
  const { objects } = await bucket.list();
  return Promise.all(objects.map(({ key }) => describeObject(bucket, key)));
}

async function fill(bucket: StoreBucket): Promise<string> {
  await bucket.put("small", "value", {
    httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(86_400_000) },
    customMetadata: { owner: "é" },
    storageClass: "InfrequentAccess",
  });
  await bucket.put("with a tail", bytesOf(1024, 2));
  const large = bytesOf(300_000, 3);
  await bucket.put("large", large, { sha256: await crypto.subtle.digest("SHA-256", large) });
  const joined = await bucket.createMultipartUpload("joined");
  const parts = [await joined.uploadPart(1, bytesOf(partBytes, 4))];
  parts.push(await joined.uploadPart(2, bytesOf(1000, 5)));
  await joined.complete(parts);
  const open = await bucket.createMultipartUpload("open", { customMetadata: { kept: "yes" } });
  await open.uploadPart(1, bytesOf(partBytes, 6));
  return open.uploadId;
}

describe("ledge store backup and restore", () => {
  it("bring back every object and upload while a server runs", async () => {
    const { project, bucket } = await served();
    const uploadId = await fill(bucket);
    const before = await describeBucket(bucket);
    const files = blobFiles(project.persistPath).length;
    expect(await run(project, "backup", "out")).toMatch(
      /^Backed up archive: 0 objects, 0 bytes\.\nBacked up photos: 4 objects, .* and 1 upload in progress\.\n$/,
    );
    expect(blobFiles(project.persistPath)).toHaveLength(files);

    await bucket.delete(["small", "joined"]);
    await bucket.put("large", bytesOf(400_000, 9));
    await bucket.put("later", bytesOf(200_000, 8));
    await bucket.resumeMultipartUpload("open", uploadId).abort();
    expect(await run(project, "restore", "out", "--bucket", "PHOTOS")).toContain(
      "Restored photos: 4",
    );
    expect(await describeBucket(bucket)).toEqual(before);
    expect(blobFiles(project.persistPath)).toHaveLength(files);

    // The upload goes on, and the store can be written to.
    const upload = bucket.resumeMultipartUpload("open", uploadId);
    const etag = createHash("md5").update(bytesOf(partBytes, 6)).digest("hex");
    const completed = await upload.complete([{ partNumber: 1, etag }]);
    expect(completed.customMetadata).toEqual({ kept: "yes" });
    expect(sameBytes(await (await bucket.get("open"))?.bytes(), bytesOf(partBytes, 6))).toBe(true);
    await bucket.put("small", "other");
    expect(await run(project, "check")).toContain("photos: 5 objects");
  });

  it("bring back the uploads of an earlier version, which have no condition", async () => {
    const { project, bucket } = await served();
    const upload = await bucket.createMultipartUpload("open");
    const part = await upload.uploadPart(1, "part");
    await run(project, "backup", "out");
    const database = new DatabaseSync(databasePath(project.path("out/store"), "photos"));
    database.exec("ALTER TABLE uploads DROP COLUMN only_if");
    database.close();
    await upload.abort();
    await run(project, "restore", "out");
    await bucket.resumeMultipartUpload("open", upload.uploadId).complete([part]);
    expect(await (await bucket.get("open"))?.text()).toBe("part");
  });

  it("work without a server, in another project, and for buckets that are not configured", async () => {
    const { project: first, bucket } = await served();
    // An empty store has a backup, too.
    expect(await run(first, "backup", "empty")).toContain("photos: 0 objects");
    await bucket.put("small", "value");
    await bucket.put("large", bytesOf(200_000));
    await run(first, "backup", "out");
    const second = new StoreProject();
    writeFileSync(second.path("wrangler.jsonc"), JSON.stringify({ name: "other" }));
    await run(second, "restore", first.path("out"));
    for (const key of ["small", "large"]) {
      const address = `photos/${key}`;
      expect(await second.json("head", address)).toEqual(await first.json("head", address));
    }
    await run(second, "restore", first.path("empty"), "--json");
    expect(await second.json("stats")).toMatchObject([{ objects: 0 }, { objects: 0 }]);
    expect(blobFiles(second.persistPath)).toEqual([]);
  });
});

describe("ledge store backup", () => {
  it("refuses folders that are not empty, and unknown buckets", async () => {
    const { project } = await served();
    await run(project, "backup", "made", "--bucket", "photos");
    const cases: [words: string[], code: number, message: string][] = [
      [["."], 1, "is not empty: give the name of an empty or a new folder."],
      [["made"], 1, "has a backup already: give another folder, or remove it first."],
      [["wrangler.jsonc"], 1, "is a file, but a folder is needed there."],
      [["out", "--bucket", "photo"], 3, 'There is no bucket "photo". Did you mean "photos"?'],
    ];
    for (const [words, code, message] of cases) {
      const ended = await project.store("backup", ...words);
      expect(ended).toMatchObject({ code, errors: expect.stringContaining(message) });
    }
    expect(existsSync(project.path("out"))).toBe(false);
    // A backup that was interrupted is replaced.
    mkdirSync(project.path("half/store/left"), { recursive: true });
    writeFileSync(project.path("half/incomplete.lock"), "");
    const { errors } = await project.store("restore", "half");
    expect(errors).toContain("is not complete");
    await run(project, "backup", "half");
    expect(readdirSync(project.path("half")).toSorted()).toEqual(["ledge-backup.json", "store"]);
    expect(readdirSync(project.path("half/store")).toSorted()).toEqual(["blobs", "databases"]);
  });

  it("names damage instead of making a backup with it, and leaves nothing", async () => {
    const { project, bucket } = await served();
    await bucket.put("key", bytesOf(200_000));
    const [file] = blobFiles(project.persistPath) as [string];
    flipBit(file, 800);
    const { code, errors } = await project.store("backup", "out");
    expect(code).toBe(1);
    expect(errors).toContain('Cannot back up bucket "photos": "key": file ');
    expect(errors).toContain('Run "ledge store check photos"');
    expect(blobFiles(project.persistPath)).toEqual([file]);
    rmSync(file);
    expect((await project.store("backup", "out")).errors).toContain("of an object is missing");
    expect(readdirSync(project.path("out"))).toEqual([]);
    expect(blobFiles(project.persistPath)).toEqual([]);
  });
});

const fileIn = (folder: string) => blobFiles(folder)[0] as string;
const databaseIn = (folder: string) => databasePath(join(folder, "store"), "photos");

describe("ledge store restore", () => {
  const damages: [damage: (folder: string) => void, message: string][] = [
    [(folder) => flipBit(fileIn(folder), 800), '"key": file '],
    [(folder) => rmSync(fileIn(folder)), "is missing, metadata says 200000"],
    [(folder) => flipIn(databaseIn(folder), "a small value"), '"small": its content'],
    [(folder) => rmSync(databaseIn(folder)), ".sqlite is missing."],
    [(folder) => writeFileSync(join(folder, "ledge-backup.json"), "{"), "cannot be read"],
  ];

  it("refuses a damaged backup, and changes nothing", async () => {
    const { project, bucket } = await served();
    await bucket.put("key", bytesOf(200_000));
    await bucket.put("small", "a small value");
    await run(project, "backup", "made");
    await bucket.put("later", "value");
    const before = await describeBucket(bucket);
    for (const [index, [damage, message]] of damages.entries()) {
      const folder = project.path(`made-${index}`);
      cpSync(project.path("made"), folder, { recursive: true });
      damage(folder);
      const { code, errors } = await project.store("restore", folder);
      expect({ code, errors }).toEqual({ code: 1, errors: expect.stringContaining(message) });
      expect(errors).toContain(`he backup in ${folder} is damaged`);
    }
    expect(await describeBucket(bucket)).toEqual(before);
    expect(blobFiles(project.persistPath)).toHaveLength(1);
  });

  it("refuses what is no backup, and buckets that the backup does not have", async () => {
    const { project } = await served();
    await run(project, "backup", "made", "--bucket", "photos");
    mkdirSync(project.path("new"));
    const manifest = JSON.stringify({ format: 2, buckets: [] });
    writeFileSync(project.path("new/ledge-backup.json"), manifest);
    const cases: [words: string[], code: number, message: string][] = [
      [["nothing"], 1, "is not a backup: it has no ledge-backup.json"],
      [["new"], 1, "has format 2"],
      [["made", "--bucket", "archive"], 3, 'has no bucket "archive". Its buckets: "photos".'],
      [["made", "--bucket", "photo"], 3, 'Did you mean "photos"?'],
    ];
    for (const [words, code, message] of cases) {
      const ended = await project.store("restore", ...words);
      expect(ended).toMatchObject({ code, errors: expect.stringContaining(message) });
    }
  });
});
