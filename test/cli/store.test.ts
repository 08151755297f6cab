/** `ledge store`, with and without a runtime on the folder. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Miniflare } from "miniflare";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { isSameProcessAlive, ownersRuntime } from "../support/processes.ts";
import { StoreProject } from "../support/store-command.ts";

/** The bucket as a script sees it. */
async function bucketOf(miniflare: Miniflare): Promise<StoreBucket> {
  const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
  return BUCKET;
}

interface ListedJson {
  key?: string;
  prefix?: string;
  size?: number;
}

function lines(text: string): ListedJson[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ListedJson);
}

describe("ledge store, with a runtime on the folder", () => {
  it("puts, heads, copies, lists, gets and deletes", async () => {
    const here = new StoreProject();
    await here.serve();
    // One file below and one above the limit up to which the database holds values.
    const small = here.write("cat.png", bytesOf(1000));
    const large = here.write("movie.mp4", bytesOf(3_000_000, 2));

    const words = `put photos/2026/cat.png ${small} --metadata owner=me --metadata a=b=c`;
    const caching = "--cache-control no-store --expires 2030-01-31T12:00:00Z";
    const put = await here.store(...`${words} ${caching}`.split(" "));
    expect(put).toMatchObject({ code: 0, errors: "" });
    expect(put.text).toMatch(/^photos\/2026\/cat\.png: 1000 bytes, etag [0-9a-f]{32}\n$/);
    expect(await here.store("put", "ARCHIVE/movie", large, "--json")).toMatchObject({ code: 0 });

    expect(await here.json("head", "PHOTOS/2026/cat.png")).toMatchObject({
      key: "2026/cat.png",
      size: 1000,
      httpMetadata: {
        contentType: "image/png",
        cacheControl: "no-store",
        cacheExpiry: "2030-01-31T12:00:00.000Z",
      },
      customMetadata: { owner: "me", a: "b=c" },
      storageClass: "Standard",
    });
    expect(await here.json("head", "archive/movie")).toMatchObject({
      size: 3_000_000,
      httpMetadata: { contentType: "video/mp4" },
      storageClass: "InfrequentAccess",
    });

    const copied = await here.store("cp", "archive/movie", "photos/movie.mp4");
    expect(copied).toMatchObject({ code: 0, errors: "" });
    expect(await here.json("head", "photos/movie.mp4")).toMatchObject({
      httpMetadata: { contentType: "video/mp4" },
      storageClass: "InfrequentAccess",
    });

    const listed = await here.store("list", "photos", "--delimiter", "/", "--json");
    expect(lines(listed.text)).toMatchObject([{ prefix: "2026/" }, { key: "movie.mp4" }]);
    const below = await here.store("list", "photos", "--prefix", "2026/");
    expect(below.text).toMatch(/^ +1000 {2}\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}2026\/cat\.png\n$/);

    expect(await here.store("get", "photos/2026/cat.png")).toMatchObject({
      code: 0,
      text: "cat.png: 1000 bytes\n",
    });
    expect(sameBytes(readFileSync(here.path("cat.png")), bytesOf(1000))).toBe(true);
    const { output } = await here.store("get", "photos/movie.mp4", "-");
    expect(sameBytes(output, bytesOf(3_000_000, 2))).toBe(true);
    execFileSync("mkfifo", [here.path("pipe")]);
    const reader = spawn("cat", [here.path("pipe")]);
    onTestFinished(() => void reader.kill());
    const read = buffer(reader.stdout);
    expect(await here.store("get", "photos/movie.mp4", "pipe")).toMatchObject({ code: 0 });
    expect(statSync(here.path("pipe")).isFIFO()).toBe(true);
    expect(sameBytes(await read, bytesOf(3_000_000, 2))).toBe(true);

    const deleted = await here.store("delete", "photos/movie.mp4", "photos/nothing");
    expect(deleted).toMatchObject({ code: 0, text: "Deleted 1 object.\n" });
    const gone = await here.store("head", "photos/movie.mp4");
    expect(gone).toMatchObject({
      code: 3,
      text: "",
      errors: 'There is no object "movie.mp4" in "photos".\n',
    });
  });
});

describe("ledge store, without a runtime", () => {
  it("puts, copies, lists, gets and deletes", async () => {
    const here = new StoreProject();
    here.write("movie.mp4", bytesOf(3_000_000, 2));
    // A command starts a runtime, and ends with the runtime.
    const put = await here.start("put", "archive/movie", "movie.mp4").end();
    expect(put).toMatchObject({ code: 0, errors: "" });
    const copied = await here.store("cp", "archive/movie", "photos/movie.mp4");
    expect(copied).toMatchObject({ code: 0, errors: "" });
    const listed = await here.store("list", "photos", "--json");
    expect(lines(listed.text)).toMatchObject([{ key: "movie.mp4", size: 3_000_000 }]);
    const { output } = await here.start("get", "photos/movie.mp4", "-").end();
    expect(sameBytes(output, bytesOf(3_000_000, 2))).toBe(true);
    const deleted = await here.store("delete", "photos/movie.mp4", "photos/nothing");
    expect(deleted).toMatchObject({ code: 0, text: "Deleted 1 object.\n" });
  });
});

describe("ledge store", () => {
  it("counts, deletes by prefix and resets, each with a dry run", async () => {
    const here = new StoreProject();
    await here.serve();
    here.write("files/a/1.txt", "one");
    here.write("files/a/2.txt", "two");
    here.write("files/b/3.txt", "three");
    await here.store("import", "photos", "files");

    expect(await here.json("stats")).toMatchObject([
      { name: "archive", objects: 0, bytes: 0, uploads: 0 },
      { name: "photos", objects: 3, bytes: 11, uploads: 0 },
    ]);
    const [{ bytesOnDisk }] = await here.json<[{ bytesOnDisk: number }]>("stats", "PHOTOS");
    expect(bytesOnDisk).toBeGreaterThan(4096);

    const prefix = ["delete", "photos", "--prefix", "a/"];
    expect((await here.store(...prefix, "--dry-run")).text).toBe("2 objects would be deleted.\n");
    expect((await here.store(...prefix)).text).toBe("Deleted 2 objects.\n");
    expect((await here.store(...prefix)).text).toBe("Deleted 0 objects.\n");

    expect(await here.store("reset")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("This command deletes everything: confirm with --yes"),
    });
    expect(await here.json("reset", "photos", "--dry-run")).toEqual([
      { name: "photos", objects: 1, uploads: 0, dryRun: true },
    ]);
    expect((await here.store("reset", "--yes")).text).toBe(
      "archive: deleted 0 objects and 0 uploads.\nphotos: deleted 1 object and 0 uploads.\n",
    );
    expect((await here.store("list", "photos")).text).toBe("");
  });

  it("lists levels and removes trees, as in a file system", async () => {
    const here = new StoreProject();
    await here.serve();
    for (const name of ["a/1.txt", "a/b/2.txt", "a-z", "c"]) here.write(`files/${name}`, "x");
    await here.store("import", "photos", "files");
    const names = async (...words: string[]) => {
      const { code, text } = await here.store(...words);
      expect([words, code]).toEqual([words, 0]);
      return text.split("\n").flatMap((line) => line.split(/ +/).at(-1) || []);
    };
    for (const words of [["ls"], ["ls", "s3://"]]) {
      expect((await here.store(...words)).text).toBe((await here.store("buckets")).text);
    }
    expect(await names("ls", "-l", "photos")).toEqual(["a/", "a-z", "c"]);
    expect(await names("ls", "s3://photos/a/")).toEqual(["a/b/", "a/1.txt"]);
    expect(await names("ls", "-r", "PHOTOS/a")).toEqual(["a-z", "a/1.txt", "a/b/2.txt"]);
    expect(await names("list", "photos/a/")).toEqual(["a/1.txt", "a/b/2.txt"]);
    expect(await names("list", "photos", "-p", "a-")).toEqual(["a-z"]);
    expect(await here.store("ls", "photos/none")).toMatchObject({
      code: 3,
      errors: 'No key in "photos" begins with "none".\n',
    });

    expect((await here.store("rm", "-rn", "photos/a")).text).toBe("2 objects would be deleted.\n");
    expect((await here.store("rm", "photos/a")).text).toBe("Deleted 0 objects.\n");
    expect((await here.store("rm", "-rf", "photos/a", "s3://photos/c")).text).toBe(
      "Deleted 3 objects.\n",
    );
    expect(await names("ls", "photos")).toEqual(["a-z"]);
    expect((await here.store("put", "photos", "files/c")).text).toMatch(/^photos\/c: 1 byte, /);
    expect(await here.store("rm", "-r", "photos/")).toMatchObject({
      code: 2,
      errors: expect.stringContaining('"ledge store reset photos" does so') as string,
    });
  });

  it("gets objects into a folder", async () => {
    const here = new StoreProject();
    await here.serve();
    for (const name of ["a.txt", "b.txt"]) here.write(`files/deep/${name}`, name);
    await here.store("import", "photos", "files");
    const keys = ["photos/deep/a.txt", "photos/deep/b.txt"];
    expect(await here.store("get", keys[0]!, "new/folder/")).toMatchObject({
      code: 0,
      text: "new/folder/a.txt: 5 bytes\n",
    });
    expect(await here.store("get", ...keys, "new")).toMatchObject({ code: 0 });
    expect(readFileSync(here.path("new/b.txt"), "utf8")).toBe("b.txt");
    expect(readdirSync(here.path("new"))).toEqual(["a.txt", "b.txt", "folder"]);
    for (const [words, code, message] of [
      [[...keys, "none"], 2, '"none" is none: write "none/" to make the folder.'],
      [[keys[0]!, "none/a"], 3, "There is no folder"],
      [["photos/none", "none/"], 3, 'There is no object "none" in "photos".'],
    ] as const) {
      const ended = await here.store("get", ...words);
      expect(ended).toMatchObject({ code, text: "", errors: expect.stringContaining(message) });
    }
    expect(existsSync(here.path("none"))).toBe(false);
  });

  it("reads standard input, and uses the runtime that owns the folder", async () => {
    const here = new StoreProject();
    const bucket = await bucketOf(await here.serve());
    const content = bytesOf(500_000);
    const command = here.start("put", "photos/stream", "-", "--content-type", "x/y");
    expect(await command.end(content)).toMatchObject({ code: 0 });
    const object = await bucket.get("stream");
    expect(object?.httpMetadata).toEqual({ contentType: "x/y" });
    expect(sameBytes(await object?.bytes(), content)).toBe(true);

    await bucket.put("from the script", "text");
    expect((await here.store("get", "photos/from the script", "-")).text).toBe("text");
    expect(await here.json("reset", "photos", "--yes")).toMatchObject([{ objects: 2 }]);
    expect(await bucket.head("stream")).toBeNull();
  });

  it("aborts the uploads of a bucket on reset", async () => {
    const here = new StoreProject();
    const bucket = await bucketOf(await here.serve());
    const upload = await bucket.createMultipartUpload("half");
    await upload.uploadPart(1, "part");
    expect(await here.json("stats", "photos")).toMatchObject([{ uploads: 1 }]);
    expect(await here.json("reset", "photos", "--yes")).toMatchObject([{ uploads: 1 }]);
    await expect(upload.complete([])).rejects.toThrow("(10024)");
  });

  it("removes the files that crashes have left, and counts them", async () => {
    const here = new StoreProject();
    here.write("large.bin", bytesOf(200_000));
    await here.store("put", "photos/kept", "large.bin");
    const blobs = join(here.persistPath, "store/blobs/photos");
    const kept = readdirSync(blobs);
    const orphan = `${"e".repeat(16)}.${"f".repeat(32)}`;
    writeFileSync(join(blobs, orphan), "orphan");
    writeFileSync(join(blobs, `.kj-tmp.1.1.${orphan}.partial`), "half");
    expect(await here.json("gc")).toEqual({ files: 2, bytes: 10 });
    expect(readdirSync(blobs)).toEqual(kept);
    expect((await here.store("gc")).text).toBe("Removed 0 unused files: 0 bytes.\n");
  });

  it("finds buckets on disk, and the state of --persist-to", async () => {
    const here = new StoreProject();
    here.write("other.jsonc", '{ "name": "other" }');
    here.write("a.txt", "a");
    await here.store("put", "photos/a.txt", "a.txt");
    const configured = await here.store("buckets");
    expect(configured.text).toBe("archive  env.ARCHIVE\nphotos   env.PHOTOS\n");
    const unconfigured = ["--config", "other.jsonc"];
    expect((await here.store("buckets", ...unconfigured)).text).toBe("photos  (not configured)\n");
    const found = await here.store("list", "photos", ...unconfigured, "--json");
    expect(lines(found.text)).toMatchObject([{ key: "a.txt" }]);

    await here.store("put", "photos/a.txt", "a.txt", "--persist-to", "elsewhere");
    expect(existsSync(here.path("elsewhere/v3/store"))).toBe(true);
  });

  it.each([
    [["list", "fotos"], 3, 'There is no bucket "fotos". Did you mean "photos"?'],
    [["list", "nothing-like-it"], 3, 'The buckets are "archive", "photos".'],
    [["import", "photos", "no-folder"], 3, "There is no folder"],
    [["put", "photos/a", "no-file"], 3, "There is no file no-file."],
    [["put", "photos/a", "."], 1, ". is not a file."],
    [["list", "photos", "--env", "x"], 1, '"x"'],
    [["head", "photos"], 2, '"photos" does not name an object: write BUCKET/KEY.'],
    [["get", "photos/a/"], 2, "say which FILE to write"],
    [["put", "photos/a", "-", "--metadata", "x"], 2, '--metadata must be NAME=VALUE, not "x".'],
    [["put", "photos/a", "-", "--expires", "soon"], 2, "--expires must be a date such as"],
    [["put", "photos/a", "-", "--storage-class", "x"], 2, "must be Standard or InfrequentAccess"],
    [["delete", "photos/a", "--prefix", "b"], 2, "name the bucket alone"],
    [["list", "photos", "--delimeter", "/"], 2, "Did you mean --delimiter?"],
  ])("ends %j with exit code %i", async (words, code, message) => {
    const ended = await new StoreProject().store(...words);
    expect(ended).toMatchObject({ code, text: "", errors: expect.stringContaining(message) });
  });

  it.each([
    [["get", "photos/none"], 3, 'There is no object "none" in "photos".'],
    [["cp", "photos/none", "photos/b"], 3, 'There is no object "none" in "photos".'],
    [["put", "photos/a", "."], 1, ". is not a file."],
    [["list", "photos", "--delimeter", "/"], 2, "Did you mean --delimiter?"],
  ])("ends the process %j with exit code %i", async (words, code, message) => {
    const ended = await new StoreProject().start(...words).end();
    expect(ended).toMatchObject({ code, text: "", errors: expect.stringContaining(message) });
  });

  it("refuses metadata that is too large, with the error of the bucket", async () => {
    const here = new StoreProject();
    await here.serve();
    here.write("a", "a");
    const ended = await here.store("put", "photos/a", "a", "--metadata", `x=${"y".repeat(9000)}`);
    expect(ended).toMatchObject({ code: 1, errors: expect.stringContaining("(10012)") });
  });

  it("leaves no process and no lock when it is interrupted", async () => {
    const here = new StoreProject();
    mkdirSync(here.path("files"));
    for (let n = 0; n < 3; n++) here.write(`files/${n}.bin`, bytesOf(40_000_000, n));
    const command = here.start("import", "photos", "files");
    const runtime = await vi.waitFor(
      () =>
        ownersRuntime(join(here.persistPath, "store")) ?? Promise.reject(new Error("no runtime")),
      { timeout: 60_000 },
    );
    command.child.kill("SIGINT");
    expect((await command.end()).code).toBe(130);
    await expect.poll(() => isSameProcessAlive(runtime), { timeout: 60_000 }).toBe(false);
    expect((await here.store("import", "photos", "files")).code).toBe(0);
    expect(await here.json("stats", "photos")).toMatchObject([{ objects: 3 }]);
  });
});
