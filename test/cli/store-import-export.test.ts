/** `ledge store import` and `export`: objects survive the round trip, interruptions included. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { crc32 } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startS3 } from "../../dist/index.js";
import type { StoreBucket } from "../../src/types/store.ts";
import { S3TestClient } from "../s3/support/s3-client.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { StoreProject, type RunningCommand } from "../support/store-command.ts";

const patiently = { timeout: 60_000, interval: 20 };

interface Result {
  transferred: number;
  unchanged: number;
  bytes: number;
  failures: { name: string; message: string }[];
}

/** Thousands of small files in a hundred folders, and a few large ones. */
function writeFiles(root: string, small = 1500): number {
  for (let n = 0; n < 100; n++) mkdirSync(join(root, `folder-${n}`), { recursive: true });
  for (let n = 0; n < small; n++) {
    const ending = ["txt", "png", "json", "unknown"][n % 4] as string;
    writeFileSync(join(root, `folder-${n % 100}`, `${n}.${ending}`), `${n} `.repeat(n % 300));
  }
  const large = [200_000, 5_000_000];
  for (const size of large) writeFileSync(join(root, `${size}.bin`), bytesOf(size, size));
  return small + large.length;
}

/** The hash of each file by path, without the files that an export adds. */
function hashes(root: string): Map<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== ".ledge-metadata.jsonl")
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    files
      .sort()
      .map((file) => [
        file.slice(root.length + 1),
        createHash("md5").update(readFileSync(file)).digest("hex"),
      ]),
  );
}

function same(left: Map<string, string>, right: Map<string, string>): boolean {
  return JSON.stringify([...left]) === JSON.stringify([...right]);
}

async function bucketOf(miniflare: Miniflare): Promise<StoreBucket> {
  const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
  return BUCKET;
}

/** Waits until the databases show that the import has stored some objects. */
async function underWay(here: StoreProject, command: RunningCommand, bytes: number): Promise<void> {
  const databases = join(here.persistPath, "store/databases/ledge-store-bucket");
  await vi.waitFor(() => {
    expect(command.child.exitCode).toBeNull();
    const sizes = readdirSync(databases)
      .filter((name) => !name.startsWith("metadata"))
      .map((name) => statSync(join(databases, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(bytes);
  }, patiently);
}

describe.each(["with a runtime on the folder", "without one"])("thousands of files, %s", (how) => {
  it("survive import and export, and a killed command continues when run again", async () => {
    const here = new StoreProject();
    const count = writeFiles(here.path("files"));
    if (how === "with a runtime on the folder") await here.serve();

    const killed = here.start("import", "photos", "files");
    await underWay(here, killed, 200_000);
    expect((await killed.kill()).code).toBeNull();
    const first = await here.json<Result>("import", "photos", "files");
    expect(first.failures).toEqual([]);
    expect(first.transferred + first.unchanged).toBe(count);
    expect(first.unchanged).toBeGreaterThan(0);
    expect(first.transferred).toBeGreaterThan(0);
    expect(await here.json("import", "photos", "files")).toMatchObject({
      transferred: 0,
      unchanged: count,
    });

    const stopped = here.start("export", "photos", "out");
    await vi.waitFor(() => {
      expect(stopped.child.exitCode).toBeNull();
      expect(readdirSync(here.path("out")).length).toBeGreaterThan(5);
    }, patiently);
    await stopped.kill();
    expect(existsSync(here.path("out/.ledge-metadata.jsonl"))).toBe(false);
    const second = await here.json<Result>("export", "photos", "out");
    expect(second.failures).toEqual([]);
    expect(second.transferred + second.unchanged).toBe(count);
    expect(second.unchanged).toBeGreaterThan(0);

    expect(same(hashes(here.path("files")), hashes(here.path("out")))).toBe(true);
    expect(existsSync(here.path("out/.ledge-partial"))).toBe(false);
  }, 180_000);
});

/** Keys that cannot be paths of files, or not beside each other. */
const difficultKeys = [
  "a",
  "a/b",
  "a/b/c",
  "A",
  "a//b",
  "a/",
  "/",
  "/etc/passwd",
  "../escape",
  "x/../../escape",
  ".",
  "..",
  "...",
  "con",
  "nul.txt",
  "ends with a dot.",
  "ends with a space ",
  "back\\slash",
  'c:\\"<>|?*',
  "new\nline\u0000nul",
  "é",
  "e\u0301",
  "straße",
  "STRASSE",
  "😀.png",
  "long".repeat(100),
  `${"deep/".repeat(200)}x`,
  ".ledge-metadata.jsonl",
  ".ledge-partial/x",
  ".ledge-keys/x",
  "__proto__",
];

async function serveS3(here: StoreProject): Promise<S3TestClient> {
  const server = await startS3({
    stateFolder: here.path(".wrangler/state"),
    buckets: [{ name: "photos" }, { name: "archive" }],
    port: 0,
  });
  onTestFinished(() => server.close());
  return new S3TestClient(server);
}

/** The keys of `putThroughS3()`. */
const s3Keys = ["s3-small", "s3-large", "s3-composite", "s3-full"];

/** Small and large content with checksums, and uploads with both kinds of checksums. */
async function putThroughS3(s3: S3TestClient): Promise<void> {
  for (const [key, size] of [
    ["s3-small", 100],
    ["s3-large", 300_000],
  ] as const) {
    const body = bytesOf(size);
    const headers = { "x-amz-checksum-crc32": base64Crc32(body) };
    await s3.send({ method: "PUT", target: `/photos/${key}`, body, headers });
  }
  for (const [key, algorithm, type] of [
    ["s3-composite", "SHA256", "COMPOSITE"],
    ["s3-full", "CRC32", "FULL_OBJECT"],
  ] as const) {
    const target = `/photos/${key}`;
    const made = await s3.send({
      method: "POST",
      target: `${target}?uploads`,
      headers: { "x-amz-checksum-algorithm": algorithm, "x-amz-checksum-type": type },
    });
    const uploadId = /<UploadId>(.*?)</.exec(made.text)?.[1] as string;
    let list = "";
    for (const [index, size] of [5 * 1024 * 1024, 1000].entries()) {
      const body = bytesOf(size, index);
      const sha256 = createHash("sha256").update(body).digest("base64");
      const checksum = algorithm === "SHA256" ? sha256 : base64Crc32(body);
      const { headers } = await s3.send({
        method: "PUT",
        target: `${target}?partNumber=${index + 1}&uploadId=${uploadId}`,
        body,
        headers: { [`x-amz-checksum-${algorithm.toLowerCase()}`]: checksum },
      });
      list += `<Part><PartNumber>${index + 1}</PartNumber><ETag>${headers.etag}</ETag></Part>`;
    }
    const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`;
    await s3.send({ method: "POST", target: `${target}?uploadId=${uploadId}`, body });
  }
}

function base64Crc32(bytes: Uint8Array): string {
  return Buffer.from(crc32(bytes).toString(16).padStart(8, "0"), "hex").toString("base64");
}

/** The headers of an object but those that name a request or a time, and the size of its first part. */
async function s3Properties(
  s3: S3TestClient,
  target: string,
): Promise<Record<string, string | undefined>> {
  const head = async (query: string) => {
    const headers = { "x-amz-checksum-mode": "ENABLED" };
    return (await s3.send({ method: "HEAD", target: target + query, headers })).headers;
  };
  const { date: _, "last-modified": __, "x-amz-request-id": ___, ...headers } = await head("");
  const first = await head("?partNumber=1");
  return {
    ...(headers as Record<string, string>),
    parts: first["x-amz-mp-parts-count"] as string | undefined,
    firstPart: first["content-length"],
  };
}

describe("export and import", () => {
  it("keep keys, metadata, checksums and storage classes that files cannot hold", async () => {
    const here = new StoreProject();
    const runtime = await here.serve();
    const bucket = await bucketOf(runtime);
    for (const [n, key] of difficultKeys.entries()) {
      await bucket.put(key, `content of ${key}`, {
        customMetadata: { number: String(n), __proto: "é\n" },
        httpMetadata: {
          contentType: "x/y",
          contentLanguage: "de",
          contentDisposition: "inline",
          contentEncoding: "br",
          cacheControl: "no-store",
          cacheExpiry: new Date(n * 1e10),
        },
        ...(n % 2 === 0 && { storageClass: "InfrequentAccess" as const }),
      });
    }
    const large = bytesOf(300_000);
    const sha256 = createHash("sha256").update(large).digest("hex");
    await bucket.put("checked", large, { sha256 });
    const upload = await bucket.createMultipartUpload("parts");
    const part = bytesOf(5 * 1024 * 1024);
    await upload.complete([await upload.uploadPart(1, part), await upload.uploadPart(2, "end")]);
    const s3 = await serveS3(here);
    await putThroughS3(s3);
    const otherKeys = ["checked", "parts", ...s3Keys];
    const count = difficultKeys.length + otherKeys.length;

    const exported = await here.json<Result>("export", "photos", "out");
    expect(exported).toMatchObject({ transferred: count, failures: [] });
    expect(await here.json("export", "photos", "out")).toMatchObject({ unchanged: count });
    expect(existsSync(here.path("escape"))).toBe(false);
    expect(await here.json("import", "archive", "out")).toMatchObject({
      transferred: count,
      failures: [],
    });
    const { ARCHIVE } = await runtime.getBindings<{ ARCHIVE: StoreBucket }>();
    for (const key of [...difficultKeys, ...otherKeys]) {
      const before = await bucket.get(key);
      const after = await ARCHIVE.get(key);
      expect(after?.httpMetadata).toEqual(before?.httpMetadata);
      expect(after?.customMetadata).toEqual(before?.customMetadata);
      expect(after?.storageClass).toBe(before?.storageClass);
      expect(sameBytes(await after?.bytes(), (await before?.bytes()) as Uint8Array)).toBe(true);
      expect(after?.etag).toBe(before?.etag);
      expect(after?.checksums.toJSON()).toEqual(before?.checksums.toJSON());
    }
    // What only the S3-compatible API sets and shows: checksums, and the sizes of parts.
    for (const key of ["parts", ...s3Keys]) {
      const before = await s3Properties(s3, `/photos/${key}`);
      expect(before["x-amz-checksum-type"] === undefined).toBe(key === "parts");
      expect(await s3Properties(s3, `/archive/${key}`)).toEqual(before);
    }
    expect(await here.json("import", "archive", "out")).toMatchObject({ unchanged: count });

    // A copy has the checksums of its source, of its whole content.
    const copied = await here.store("cp", "photos/s3-small", "archive/copy");
    expect(copied).toMatchObject({ code: 0, errors: "" });
    const source = await s3Properties(s3, "/photos/s3-small");
    expect(await s3Properties(s3, "/archive/copy")).toEqual(source);
    await here.store("cp", "photos/s3-composite", "archive/copy");
    expect(await s3Properties(s3, "/archive/copy")).toMatchObject({
      "x-amz-checksum-type": "FULL_OBJECT",
      "x-amz-checksum-sha256": expect.stringMatching(/=$/) as string,
    });
  });

  it("keep the entries of other prefixes on export, and add a prefix on import", async () => {
    const here = new StoreProject();
    const bucket = await bucketOf(await here.serve());
    await bucket.put("a/1", "one", { customMetadata: { n: "1" } });
    await bucket.put("b/2", "two", { customMetadata: { n: "2" } });
    await here.store("export", "photos", "out", "--prefix", "a/");
    expect(await here.json("export", "photos", "out", "--prefix", "b/")).toMatchObject({
      transferred: 1,
    });
    await here.store("import", "photos", "out", "--prefix", "copy/");
    expect((await bucket.head("copy/a/1"))?.customMetadata).toEqual({ n: "1" });
    expect((await bucket.head("copy/b/2"))?.customMetadata).toEqual({ n: "2" });
  });

  it("guess the content type of files without a manifest, and import only changes", async () => {
    const here = new StoreProject();
    const bucket = await bucketOf(await here.serve());
    here.write("files/index.html", "<p>");
    here.write("files/data", "?");
    here.write("files/deep/style.css", "p {}");
    symlinkSync(here.path("files/data"), here.path("files/link"));
    symlinkSync(here.path("files"), here.path("files/deep/loop"));
    expect(await here.json("import", "photos", "files")).toMatchObject({ transferred: 4 });
    const types = (await bucket.list({ include: ["httpMetadata"] })).objects.map((object) => [
      object.key,
      object.httpMetadata?.contentType,
    ]);
    expect(types).toEqual([
      ["data", undefined],
      ["deep/style.css", "text/css; charset=utf-8"],
      ["index.html", "text/html; charset=utf-8"],
      ["link", undefined],
    ]);
    here.write("files/index.html", "<q>");
    expect(await here.json("import", "photos", "files")).toMatchObject({
      transferred: 1,
      unchanged: 3,
      bytes: 3,
    });
  });

  it("report each failure, transfer the rest, and end with exit code 1", async () => {
    const here = new StoreProject();
    const bucket = await bucketOf(await here.serve());
    await bucket.put("in-the-way", "file");
    await bucket.put("linked/secret", "file");
    await bucket.put("fine", "file");
    mkdirSync(here.path("out/in-the-way/folder"), { recursive: true });
    mkdirSync(here.path("outside"));
    symlinkSync(here.path("outside"), here.path("out/linked"));
    const ended = await here.store("export", "photos", "out");
    expect(ended).toMatchObject({ code: 1, text: "Exported 1 object, 4 bytes. 2 failed.\n" });
    expect(ended.errors).toContain("in-the-way: ");
    expect(ended.errors).toContain("it is not a folder");
    expect(readdirSync(here.path("outside"))).toEqual([]);
    expect(readFileSync(here.path("out/fine"), "utf8")).toBe("file");

    rmSync(here.path("out/fine"));
    const imported = await here.json<Result>("import", "photos", "out");
    expect(imported.failures).toMatchObject([{ name: "fine" }]);

    here.write("out/.ledge-metadata.jsonl", "nonsense\n");
    expect(await here.store("import", "photos", "out")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("Line 1 of the manifest is not a JSON object."),
    });
  });
});

describe("an import", () => {
  it("continues when a runtime starts and stops", async () => {
    const here = new StoreProject();
    const count = writeFiles(here.path("files"), 4000);
    const command = here.start("import", "photos", "files", "--json");
    await underWay(here, command, 200_000);
    const runtime = await here.serve();
    const bucket = await bucketOf(runtime);
    expect((await bucket.list({ limit: 1 })).objects).toHaveLength(1);
    await runtime.dispose();
    const ended = await command.end();
    expect(ended.errors).toBe("");
    const result = JSON.parse(ended.text) as Result;
    expect(result.failures).toEqual([]);
    expect(result.transferred + result.unchanged).toBe(count);
    expect(await here.json("stats", "photos")).toMatchObject([{ objects: count }]);
  }, 120_000);
});
