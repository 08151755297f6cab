/** A folder as a zip file, read back by the directory of the file and by unzip. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { startS3 } from "../../dist/index.js";
import { BucketCalls } from "./support/bucket-calls.ts";
import { useExplorer } from "./support/explorer.ts";
import { zipNames } from "./support/zip-names.ts";

const used = useExplorer({ buckets: ["photos", "many"] });
const photos = new BucketCalls(used, "photos");

async function download(bucket: BucketCalls, prefix: string): Promise<Buffer> {
  const response = await used.fetch(bucket.path("/archive", { prefix }));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/zip");
  return Buffer.from(await response.arrayBuffer());
}

describe("an archive", () => {
  it("has the objects below a folder, in the order of the keys", async () => {
    const large = randomBytes(2_000_000);
    await photos.put("a/b/large.bin", large);
    await photos.put("a/b/sub/é 日本.txt", "text");
    await photos.put("a/b/empty/", "");
    await photos.put("a/bc", "outside");
    const file = await download(photos, "a/b/");
    expect(zipNames(file)).toEqual(["b/empty/", "b/large.bin", "b/sub/é 日本.txt"]);
    expect(file.includes(large)).toBe(true);
  });

  it("has what a person has selected, by a form", async () => {
    await photos.putAll(["sel/a/1", "sel/a/2", "sel/b", "sel/c"]);
    const selection = JSON.stringify({ keys: ["sel/b"], prefixes: ["sel/a/"] });
    const send = (body: BodyInit) => used.fetch(photos.path("/archive"), { method: "POST", body });
    const response = await send(new URLSearchParams({ selection }));
    expect(response.headers.get("content-disposition")).toContain('filename="sel.zip"');
    const file = Buffer.from(await response.arrayBuffer());
    expect(zipNames(file)).toEqual(["b", "a/1", "a/2"]);
    expect(await (await send("x")).text()).toContain("The form has no field");
  });

  it.runIf(existsSync("/usr/bin/unzip"))("is unpacked by unzip", async () => {
    const large = randomBytes(1_000_000);
    await photos.put("u/large.bin", large);
    await photos.put("u/sub/é 日本.txt", "text");
    const folder = mkdtempSync(join(tmpdir(), "ledge-archive-"));
    try {
      writeFileSync(join(folder, "u.zip"), await download(photos, "u/"));
      execFileSync("unzip", ["-q", "u.zip"], {
        cwd: folder,
        env: { ...process.env, LC_ALL: "C.UTF-8" },
      });
      expect(readFileSync(join(folder, "u/large.bin")).equals(large)).toBe(true);
      expect(readFileSync(join(folder, "u/sub/é 日本.txt"), "utf8")).toBe("text");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("has safe names for keys that are no paths, and says which", async () => {
    const keys = ["x/../../etc/passwd", "x//a", "x/a\\b", "x/A", "x/a", "x/<img src=x>"];
    for (const key of keys) await photos.put(key, key);
    const file = await download(photos, "x/");
    const names = zipNames(file);
    expect(names.filter((name) => !/^(?:x\/[Aa]|\.ledge-keys[/.].*)$/.test(name))).toEqual([]);
    expect(names.at(-1)).toBe(".ledge-keys.json");
    const text = file.toString("utf8");
    const index = JSON.parse(
      text.slice(text.indexOf('{\n  "renamed"'), text.indexOf("\n}\n") + 2),
    ) as {
      renamed: Record<string, string>;
    };
    expect(Object.values(index.renamed).sort()).toEqual(keys.filter((key) => key !== "x/A").sort());
  });

  it("of a bucket has its name, and pages of objects", async () => {
    const many = new BucketCalls(used, "many");
    const keys = Array.from({ length: 1100 }, (_, index) => String(index).padStart(4, "0"));
    await many.putAll(keys);
    expect(zipNames(await download(many, ""))).toEqual(keys);
    const response = await used.fetch(many.path("/archive"), { method: "HEAD" });
    expect(response.headers.get("content-disposition")).toContain('filename="many.zip"');
  });

  it("leaves out what only the owner of a key can read, and says so", async () => {
    await photos.put("c/open", "open");
    const { stateFolder } = used;
    const s3 = await startS3({ stateFolder, buckets: [{ name: "photos" }], port: 0 });
    const { url: endpoint, credentials } = s3;
    const client = new S3Client({ endpoint, credentials, region: "auto", forcePathStyle: true });
    try {
      await client.send(
        new PutObjectCommand({
          Bucket: "photos",
          Key: "c/secret",
          Body: "secret text",
          SSECustomerAlgorithm: "AES256",
          SSECustomerKey: randomBytes(32).toString("base64"),
        }),
      );
    } finally {
      client.destroy();
      await s3.close();
    }
    const file = await download(photos, "c/");
    expect(zipNames(file)).toEqual(["c/open", ".ledge-keys.json"]);
    expect(file.includes("secret text")).toBe(false);
    expect((await photos.head("c/secret")).hasCustomerKey).toBe(true);
    expect((await photos.get("c/secret")).status).toBe(400);
  });

  it("of an empty folder is refused", async () => {
    const response = await used.fetch(photos.path("/archive", { prefix: "nothing/" }));
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('no objects below \\"nothing/\\"');
  });

  it("stops when the browser goes away", async () => {
    await photos.put("s/1", randomBytes(4_000_000));
    const ended = new AbortController();
    const response = await used.fetch(photos.path("/archive", { prefix: "s/" }), {
      signal: ended.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    ended.abort();
    await expect(reader?.closed).rejects.toThrow("aborted");
    expect(await photos.keys("s/")).toEqual(["s/1"]);
  });
});
