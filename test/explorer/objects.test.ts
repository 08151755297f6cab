/** Buckets and objects by the API of the explorer: lists, metadata, content, links. */
import { S3TestClient } from "../s3/support/s3-client.ts";
import { openExplorerLink } from "../support/explorer-access.ts";
import { temporaryFolder } from "../support/store.ts";
import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { startExplorer, startS3 } from "../../dist/index.js";
import type {
  ObjectPage,
  BucketStatistics,
  BucketSummary,
  Link,
  ObjectDetails,
} from "../../src/explorer/api/buckets.ts";
import { BucketCalls } from "./support/bucket-calls.ts";
import { useExplorer } from "./support/explorer.ts";

const used = useExplorer({ buckets: ["photos", "many", "archive"], configFile: "wrangler.toml" });
const photos = new BucketCalls(used, "photos");

const oddKeys = [
  ["that leads upward", "../x"],
  ["with the characters of a URL", "a?b#c%2F"],
  ["that looks like HTML", "<img src=x onerror=alert(1)>"],
  ["from right to left", "\u202eright to left \u05d0\u05d1\u05d2"],
  ["with empty segments", "a//b/"],
  ["that is a space", " "],
  ["of 1,024 bytes", "k".repeat(1024)],
  ["of 1,024 bytes in 512 characters", "é".repeat(512)],
];

describe("buckets", () => {
  it("are listed, made, measured and deleted", async () => {
    const made = await used.call<BucketSummary>("/api/buckets", {
      method: "POST",
      json: { name: "new-bucket" },
    });
    expect(made).toMatchObject({ name: "new-bucket", bindings: [], isDeletable: true });
    const listed = await used.call<BucketSummary[]>("/api/buckets");
    expect(listed.map(({ name, isDeletable }) => [name, isDeletable])).toEqual([
      ["archive", false],
      ["many", false],
      ["new-bucket", true],
      ["photos", false],
    ]);
    await new BucketCalls(used, "new-bucket").put("a", "12345");
    const path = "/api/buckets/new-bucket";
    expect(await used.call<BucketStatistics>(path)).toMatchObject({
      objects: 1,
      bytes: 5,
      uploads: 0,
    });
    await expect(used.call(path, { method: "DELETE" })).rejects.toThrow("Delete its objects");
  });

  it.each([
    ["POST", "/api/buckets", { name: "X" }, 400, "3 to 63 lower-case letters"],
    ["POST", "/api/buckets", { name: "photos" }, 409, "exists already"],
    ["POST", "/api/buckets", { name: 5 }, 400, "of the request is not valid: must be text"],
    ["DELETE", "/api/buckets/photos", undefined, 409, "Remove the bucket from wrangler.toml"],
    ["GET", "/api/buckets/absent", undefined, 404, 'no bucket \\"absent\\". The buckets are'],
    ["GET", "/api/buckets/..%2Fx/objects", undefined, 404, '\\"archive\\", \\"many\\"'],
  ])("refuse %s %s with %j", async (method, path, body, status, message) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await used.fetch(path, { method, ...init });
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(message);
  });
});

describe("a list of objects", () => {
  const many = new BucketCalls(used, "many");

  it("has pages, folders, a start and the types of the contents", async () => {
    const keys = Array.from({ length: 2500 }, (_, index) => `n/${String(index).padStart(4, "0")}`);
    await many.putAll(keys);
    await many.put("folder/");
    const first = await many.page({ prefix: "n/" });
    expect(first.objects).toHaveLength(1000);
    expect(first.objects[0]).toMatchObject({
      key: "n/0000",
      size: 6,
      etag: createHash("md5").update("n/0000").digest("hex"),
      storageClass: "Standard",
      contentType: "text/plain",
    });
    expect(await many.keys("n/")).toEqual(keys);
    const root = await many.page({ delimiter: "/" });
    expect(root).toEqual({ objects: [], folders: ["folder/", "n/"], cursor: null });
    const next = await many.page({ after: "n/2496", limit: "2" });
    expect(next.objects.map(({ key }) => key)).toEqual(["n/2497", "n/2498"]);
    expect(next.cursor).not.toBeNull();
  });

  it("has a type that is null for an object without a type", async () => {
    await photos.put("untyped", new Uint8Array([1]));
    const { objects } = await photos.page({ prefix: "untyped" });
    expect(objects[0]?.contentType).toBeNull();
  });

  it.each(["0", "1001", "-1", "1.5", "x", ""])("refuses the limit %j", async (limit) => {
    const response = await used.fetch(photos.path("/objects", { limit }));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("from 1 to 1000");
  });

  it("refuses a cursor that no page had", async () => {
    const response = await used.fetch(photos.path("/objects", { cursor: "photos" }));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("pass the cursor of the previous page");
  });
});

describe("an object", () => {
  it.each(oddKeys)("with a key %s is stored, listed and read", async (_, key) => {
    const content = `content of ${key}`;
    await photos.put(key, content, { type: "text/plain" });
    expect(await photos.text(key)).toBe(content);
    expect((await photos.head(key)).key).toBe(key);
    expect((await photos.page({ prefix: key })).objects.map((each) => each.key)).toContain(key);
    const download = await photos.get(key, {}, { download: "" });
    expect(download.headers.get("content-disposition")).toMatch(/^attachment; filename="/);
    expect(await download.text()).toBe(content);
  });

  it.each([
    ["a key of 1,025 bytes", "k".repeat(1025)],
    ["an empty key", ""],
  ])("cannot have %s", async (_, key) => {
    const response = await used.fetch(photos.path("/content", { key }), {
      method: "PUT",
      body: "",
    });
    expect(response.status).toBe(400);
    const text = await response.text();
    expect(text).toContain("The specified object name is not valid.");
    expect(text).toMatch(/The key (?:is empty|.* has 1025 bytes)/);
  });

  it("without a key in the query, or that does not exist, is refused", async () => {
    expect((await used.fetch(photos.path("/object"))).status).toBe(400);
    expect((await photos.get("absent")).status).toBe(404);
    await expect(photos.head("absent")).rejects.toThrow('no object \\"absent\\"');
  });

  it("is replaced only if the request allows it", async () => {
    await photos.put("kept", "first");
    await expect(photos.put("kept", "second", { overwrite: "false" })).rejects.toThrow(
      "exists already",
    );
    expect(await photos.text("kept")).toBe("first");
    await photos.put("kept", "third", { overwrite: "true" });
    expect(await photos.text("kept")).toBe("third");
    await photos.put("new", "first", { overwrite: "false" });
    await expect(photos.put("kept", "x", { overwrite: "yes" })).rejects.toThrow("true or false");
  });

  it("of several megabytes keeps its bytes, in ranges too", async () => {
    const bytes = randomBytes(3_000_001);
    const { etag, size } = await photos.put("large", bytes);
    expect([etag, size]).toEqual([createHash("md5").update(bytes).digest("hex"), bytes.length]);
    const whole = await photos.get("large");
    expect(whole.headers.get("content-length")).toBe("3000001");
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
    const range = await photos.get("large", { range: "bytes=1000000-1999999" });
    expect(range.status).toBe(206);
    expect(range.headers.get("content-range")).toBe("bytes 1000000-1999999/3000001");
    const part = Buffer.from(await range.arrayBuffer());
    expect(part.equals(bytes.subarray(1_000_000, 2_000_000))).toBe(true);
  });
});

describe("content", () => {
  it.each([
    ["bytes=2-4", 206, "cde", "bytes 2-4/10"],
    ["bytes=7-", 206, "hij", "bytes 7-9/10"],
    ["bytes=-2", 206, "ij", "bytes 8-9/10"],
    ["bytes=0-100", 206, "abcdefghij", "bytes 0-9/10"],
    ["bytes=0-1,4-5", 200, "abcdefghij", null],
    ["lines=1", 200, "abcdefghij", null],
  ])("of the range %s has the status %d", async (range, status, text, contentRange) => {
    await photos.put("letters", "abcdefghij");
    const response = await photos.get("letters", { range });
    expect(response.status).toBe(status);
    expect(response.headers.get("content-range")).toBe(contentRange);
    expect(await response.text()).toBe(text);
  });

  it("of a range outside of the object is refused with the size", async () => {
    await photos.put("letters", "abcdefghij");
    const response = await photos.get("letters", { range: "bytes=10-" });
    expect(response.status).toBe(416);
    expect(response.headers.get("content-range")).toBe("bytes */10");
    expect(await response.json()).toMatchObject({ code: 10039 });
  });

  it("is described by HEAD, and a range is that of the version which the browser has", async () => {
    const { etag } = await photos.put("letters", "abcdefghij", { type: "text/plain" });
    const head = await used.fetch(photos.path("/content", { key: "letters" }), { method: "HEAD" });
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([
      200,
      "10",
      "",
    ]);
    expect(head.headers.get("etag")).toBe(`"${etag}"`);
    const ranged = { range: "bytes=0-1" };
    const sameVersion = await photos.get("letters", { ...ranged, "if-range": `"${etag}"` });
    expect([sameVersion.status, await sameVersion.text()]).toEqual([206, "ab"]);
    const otherVersion = await photos.get("letters", { ...ranged, "if-range": '"other"' });
    expect([otherVersion.status, await otherVersion.text()]).toEqual([200, "abcdefghij"]);
  });

  it.each([
    ["text/html", "<script>alert(1)</script>"],
    ["image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"],
  ])("of the type %s runs in a sandbox", async (type, body) => {
    await photos.put("hostile", body, { type });
    const { headers } = await photos.get("hostile");
    expect(headers.get("content-type")).toBe(type);
    expect(headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("access-control-allow-origin")).toBeNull();
  });

  it("with metadata that are no headers is served without them", async () => {
    await photos.put("hostile", "x", { type: "text/plain" });
    await photos.change("hostile", {
      httpMetadata: {
        contentType: "text/html; \u05d0",
        contentDisposition: "attachment",
        cacheControl: "public",
      },
    });
    const { status, headers } = await photos.get("hostile");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/octet-stream");
    expect(headers.get("content-disposition")).toBeNull();
    expect(headers.get("cache-control")).toBe("no-store");
  });

  it("is never a script of the page", async () => {
    await photos.put("a.js", "alert(1)", { type: "text/javascript" });
    expect((await photos.get("a.js", { "sec-fetch-dest": "script" })).status).toBe(403);
  });

  it("that is encoded is decoded when it is shown, and stored bytes otherwise", async () => {
    const bytes = gzipSync("hello hello hello");
    await photos.put("hello.txt", bytes, { type: "text/plain" });
    await photos.change("hello.txt", { httpMetadata: { contentEncoding: "gzip" } });
    expect(await photos.text("hello.txt")).toBe("hello hello hello");
    for (const response of [
      await photos.get("hello.txt", {}, { download: "" }),
      await photos.get("hello.txt", { range: "bytes=0-" }),
    ]) {
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    }
  });
});

describe("metadata", () => {
  it("are replaced, and the content stays", async () => {
    const bytes = randomBytes(300_000);
    const before = await photos.put("described", bytes, { type: "image/png" });
    const after = await photos.change("described", {
      httpMetadata: { contentType: "image/jpeg", cacheControl: "no-cache", cacheExpiry: 1000 },
      customMetadata: { author: "Ada", constructor: "x" },
      storageClass: "InfrequentAccess",
    });
    expect(after).toMatchObject({
      etag: before.etag,
      size: 300_000,
      contentType: "image/jpeg",
      httpMetadata: { contentType: "image/jpeg", cacheControl: "no-cache", cacheExpiry: 1000 },
      customMetadata: { author: "Ada", constructor: "x" },
      storageClass: "InfrequentAccess",
    });
    expect(after.version).not.toBe(before.version);
    expect(await photos.head("described")).toEqual(after);
    const content = Buffer.from(await (await photos.get("described")).arrayBuffer());
    expect(content.equals(bytes)).toBe(true);
  });

  it("are not replaced when the object was replaced meanwhile", async () => {
    const { etag } = await photos.put("described", "first");
    await photos.put("described", "second");
    await expect(photos.change("described", { etag })).rejects.toThrow("was changed meanwhile");
    expect(await photos.text("described")).toBe("second");
  });

  it("are not replaced when other metadata were written meanwhile", async () => {
    const { version } = await photos.put("described", "content");
    const other = await photos.change("described", { customMetadata: { author: "Ada" } });
    const late = photos.change("described", { version, customMetadata: {} });
    await expect(late).rejects.toThrow("was changed meanwhile");
    expect(await photos.head("described")).toEqual(other);
  });

  it.each([
    [{ httpMetadata: { contentType: "a\r\nb: c" } }, '\\"httpMetadata.contentType\\"'],
    [{ httpMetadata: { other: "x" } }, '\\"httpMetadata.other\\"'],
    [{ httpMetadata: { cacheExpiry: 1e20 } }, "a time in milliseconds"],
    [{ customMetadata: { a: 5 } }, "must be names with texts"],
    [{ customMetadata: { a: "x".repeat(8192) } }, "more than 8192 bytes"],
    [{ storageClass: "Cold" }, "must be Standard or InfrequentAccess"],
    [{ etag: "" }, '\\"etag\\"'],
  ])("are refused: %#", async (change, message) => {
    await photos.put("described", "content");
    await expect(photos.change("described", change as Partial<ObjectDetails>)).rejects.toThrow(
      message,
    );
  });
});

function ask(json: unknown): Promise<Link> {
  return used.call<Link>(photos.path("/links"), { method: "POST", json });
}

describe("a link", () => {
  it("needs the S3-compatible API", async () => {
    await expect(ask({ key: "a", expiresSeconds: 60 })).rejects.toThrow(
      "Start ledge dev or ledge s3",
    );
  });

  it("lets a browser without a token read the object", async () => {
    const s3 = await startS3({
      stateFolder: used.stateFolder,
      buckets: [{ name: "photos" }],
      port: 0,
    });
    try {
      const key = "a folder/a?b#c%2F é";
      await photos.put(key, "linked");
      const { url, expires } = await ask({ key, expiresSeconds: 60 });
      expect(expires).toBeGreaterThan(Date.now());
      expect(await (await fetch(url)).text()).toBe("linked");
      await expect(ask({ key: "../x", expiresSeconds: 60 })).rejects.toThrow("Browsers change");
      await expect(ask({ key, expiresSeconds: 604_801 })).rejects.toThrow("from 1 to 604800");
      await expect(ask({ key, expiresSeconds: 0.5 })).rejects.toThrow("from 1 to 604800");
      await expect(ask({ key: "", expiresSeconds: 5 })).rejects.toThrow("The key is empty");
    } finally {
      await s3.close();
    }
  });
});

it("an upload has the storage class of its bucket, by the page and by S3", async () => {
  const folder = temporaryFolder();
  const buckets = [{ name: "archive", storageClass: "InfrequentAccess" as const }];
  const explorer = await startExplorer({ stateFolder: folder, buckets, port: 0 });
  onTestFinished(() => explorer.close());
  const s3 = await startS3({ stateFolder: folder, buckets, port: 0 });
  onTestFinished(() => s3.close());
  const { address, cookie } = await openExplorerLink(explorer.url);
  const path = `${address}/api/buckets/archive`;
  await fetch(`${path}/content?key=page`, { method: "PUT", body: "x", headers: { cookie } });
  const client = new S3TestClient(s3);
  await client.send({ method: "PUT", target: "/archive/s3", body: "x" });
  const headers = { "x-amz-storage-class": "STANDARD" };
  await client.send({ method: "PUT", target: "/archive/standard", body: "x", headers });
  const response = await fetch(`${path}/objects`, { headers: { cookie } });
  const { objects } = (await response.json()) as ObjectPage;
  expect(objects.map(({ key, storageClass }) => [key, storageClass])).toEqual([
    ["page", "InfrequentAccess"],
    ["s3", "InfrequentAccess"],
    ["standard", "Standard"],
  ]);
});
