/** The interface of a bucket in Node: a bucket of the state folder and a remote bucket do the same. */
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { StoreError } from "../../src/store/core/errors.ts";
import { decodeObject } from "../../src/store/core/object.ts";
import { closeContent, type Bucket, type FoundObject } from "../../src/store/node/bucket.ts";
import { StoreClient } from "../../src/store/node/store-client.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { bytesOf } from "../support/bytes.ts";
import { startFaultyProxy } from "../support/faulty-proxy.ts";
import { shareStore, temporaryFolder } from "../support/store.ts";
import { chunksOf, description, readAll } from "./support/store-client.ts";

const service = useS3({ buckets: [{ name: "cluster-bucket" }] });

const accessOf = (change: object = {}) => ({
  remote: "cluster",
  endpoint: service.server.url,
  region: "us-east-1",
  bucketName: "cluster-bucket",
  prefix: "app/",
  credentials: service.server.credentials,
  accept: [],
  ...change,
});

const store = shareStore();
let client: StoreClient;
beforeAll(() => {
  client = new StoreClient(join(store().folder, "store"), () => ({
    names: ["photos", "remote"],
    file: "ledge.toml",
    remotes: new Map([["remote", accessOf()]]),
  }));
});
afterAll(() => client.close());

async function bucketOf(kind: string): Promise<Bucket> {
  return (await client.find(kind === "local" ? "photos" : kind)) as Bucket;
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");
const small = bytesOf(1000, 2);
const large = bytesOf(3_000_000, 3);

async function put(bucket: Bucket, key: string, bytes: Uint8Array): Promise<void> {
  const content = await bucket.write(chunksOf(bytes), { algorithms: ["sha256"] });
  const http = { contentType: "image/png" };
  const custom = { Größe: "ä" };
  await bucket.call({ method: "put", ...description, http, custom, key, content });
}

async function found(bucket: Bucket, key: string): Promise<FoundObject> {
  const opened = await bucket.get({ key });
  expect(opened?.status).toBe("found");
  return opened as FoundObject;
}

const refuse = () => {
  throw new Error("refused");
};

const spoolFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("ledge-spool-"));

describe.each(["local", "remote"])("a %s bucket", (kind) => {
  it.each([
    ["small", small],
    ["large", large],
  ])("stores and returns %s content with its metadata", async (name, bytes) => {
    const bucket = await bucketOf(kind);
    await put(bucket, `${name} é/../x`, bytes);
    const opened = await found(bucket, `${name} é/../x`);
    const { object, range } = opened;
    expect(range).toEqual({ offset: 0, length: bytes.length });
    expect(object).toMatchObject({
      size: bytes.length,
      etag: md5(bytes),
      http: { contentType: "image/png" },
      custom: { Größe: "ä" },
      storageClass: "Standard",
    });
    expect(object.checksums.md5).toBe(md5(bytes));
    expect(md5(await readAll(opened))).toBe(md5(bytes));
  });

  it("opens a range, and content that the caller gives up", async () => {
    const bucket = await bucketOf(kind);
    await put(bucket, "range", large);
    const opened = await bucket.get({
      key: "range",
      range: { offset: 1_000_000, length: 200_000 },
    });
    const bytes = await readAll(opened as FoundObject);
    expect(md5(bytes)).toBe(md5(large.subarray(1_000_000, 1_200_000)));
    const { content } = await found(bucket, "range");
    if (content instanceof Uint8Array) throw new Error("Large content is not in memory.");
    const { value } = await content.chunks().next();
    expect(Buffer.from(value as Uint8Array)[0]).toBe(large[0]);
    content.close();
    content.close();
    expect(await readAll(await found(bucket, "range"))).toHaveLength(large.length);
  });

  it("answers a condition that does not hold, and an absent key", async () => {
    const bucket = await bucketOf(kind);
    await put(bucket, "condition", small);
    const onlyIf = { etagMatches: [{ type: "strong", value: "0".repeat(32) }] } as never;
    expect(await bucket.get({ key: "condition", onlyIf })).toMatchObject({
      status: "condition failed",
      object: { key: "condition" },
    });
    expect(await bucket.get({ key: "absent" })).toBeNull();
    expect(await bucket.call({ method: "head", key: "absent" })).toBeNull();
  });

  it("leaves nothing of content that is refused or discarded", async () => {
    const bucket = await bucketOf(kind);
    const before = await bucket.call({ method: "stats" });
    const refused = await errorOf(bucket.write(chunksOf(large), { verify: refuse }));
    expect(refused).toMatchObject({ message: "refused" });
    await bucket.discard(await bucket.write(chunksOf(large)));
    const wrong = await bucket.write(chunksOf(large), { algorithms: ["sha256"] });
    const checksum = { algorithm: "sha256", expected: "00".repeat(32) } as never;
    const putting = bucket.call({
      method: "put",
      ...description,
      key: "wrong",
      content: wrong,
      checksum,
    });
    expect(await errorOf(putting)).toMatchObject({ code: 10037 });
    expect(await bucket.call({ method: "head", key: "wrong" })).toBeNull();
    expect(await bucket.call({ method: "stats" })).toEqual(before);
  });

  it("stores parts, and reads one", async () => {
    const bucket = await bucketOf(kind);
    const part = 5 * 1024 * 1024;
    const bytes = bytesOf(part + 1000, 9);
    const key = "parts";
    const { uploadId } = await bucket.call({ method: "createUpload", key, ...description });
    const parts = [];
    for (const [index, some] of [bytes.subarray(0, part), bytes.subarray(part)].entries()) {
      const content = await bucket.write(chunksOf(some));
      const named = { key, uploadId, partNumber: index + 1, content };
      parts.push(await bucket.call({ method: "uploadPart", ...named }));
    }
    await bucket.call({ method: "completeUpload", key, uploadId, parts });
    expect(md5(await readAll(await found(bucket, key)))).toBe(md5(bytes));
    const second = (await bucket.get({ key, partNumber: 2 })) as FoundObject;
    expect(second).toMatchObject({ range: { offset: part, length: 1000 }, partsCount: 2 });
    expect(md5(await readAll(second))).toBe(md5(bytes.subarray(part)));
  });

  it.each(["local", "remote"])("copies an object of a %s bucket", async (other) => {
    const [bucket, source] = [await bucketOf(kind), await bucketOf(other)];
    for (const bytes of [small, large]) {
      await put(source, "source", bytes);
      const opened = await found(source, "source");
      const content = await bucket.copy(opened, ["sha512"]);
      closeContent(opened);
      const key = `copy of ${other}`;
      const text = await bucket.call({ method: "put", ...description, key, content });
      const sha512 = createHash("sha512").update(bytes).digest("hex");
      expect(content.checksums).toMatchObject({ md5: md5(bytes), sha512 });
      expect(decodeObject(key, text as string).etag).toBe(md5(bytes));
      expect(md5(await readAll(await found(bucket, key)))).toBe(md5(bytes));
    }
  });
});

describe("a client with a remote bucket", () => {
  it("lists the bucket, and no request creates or deletes it", async () => {
    const names = (await client.list()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["photos", "remote"]));
    await client.create("remote");
    expect(await errorOf(client.delete("remote"))).toMatchObject({ code: 200003 });
  });

  it("keeps large content in a temporary folder, which its end removes", async () => {
    const before = spoolFolders();
    const folder = temporaryFolder();
    const own = new StoreClient(folder, () => ({
      names: ["remote"],
      file: "ledge.toml",
      remotes: new Map([["remote", accessOf({ prefix: "own/" })]]),
    }));
    await put((await own.find("remote")) as Bucket, "large", large);
    const [made, ...others] = spoolFolders().filter((name) => !before.includes(name));
    expect(others).toEqual([]);
    expect(readdirSync(`${tmpdir()}/${made}`)).toEqual([]);
    await own.close();
    expect(spoolFolders()).not.toContain(made);
    // A runtime would have left its databases.
    expect(readdirSync(folder)).toEqual(["sockets"]);
  });

  it("writes nothing to the service before the first operation that needs its features", async () => {
    const proxy = await startFaultyProxy(service.server.url);
    const change = { endpoint: proxy.endpoint, prefix: "reading/" };
    const own = new StoreClient(temporaryFolder(), () => ({
      names: ["remote"],
      file: "ledge.toml",
      remotes: new Map([["remote", accessOf(change)]]),
    }));
    onTestFinished(async () => {
      await own.close();
      await proxy.close();
    });
    const written = () => proxy.log.filter(({ method }) => method === "PUT").length;
    const bucket = (await own.find("remote")) as Bucket;
    const page = { prefix: "", delimiter: "", limit: 10, includeHttp: true, includeCustom: true };
    await bucket.call({ method: "list", ...page });
    await bucket.call({ method: "stats" });
    await bucket.call({ method: "head", key: "a" });
    expect(await bucket.get({ key: "a" })).toBeNull();
    await bucket.call({ method: "listUploads", prefix: "", limit: 10 });
    expect(written()).toBe(0);
    await bucket.call({ method: "delete", keys: ["a"] });
    const probed = written();
    expect(probed).toBeGreaterThan(0);
    await put(bucket, "a", small);
    expect(written()).toBe(probed + 1);
  });

  it.each([
    [
      "keys that are missing",
      { credentials: { accessKeyId: "", secretAccessKey: "" } },
      /has no keys\. Set LEDGE_REMOTE_CLUSTER_ACCESS_KEY_ID and LEDGE_REMOTE_CLUSTER_SECRET_ACCESS_KEY/,
    ],
    [
      "keys that are wrong",
      { credentials: { accessKeyId: "unknown", secretAccessKey: "unknown" } },
      /does not know the access key id.*Correct access_key_id of \[remotes\.cluster\]/,
    ],
    ["a bucket that is not there", { bucketName: "missing" }, /has no bucket "missing"/],
    ["a service that is down", { endpoint: "http://127.0.0.1:1" }, /cannot be reached/],
  ])("says what is wrong: %s", async (_, change, sentence) => {
    const own = new StoreClient(temporaryFolder(), () => ({
      names: ["remote"],
      file: "ledge.toml",
      remotes: new Map([["remote", accessOf(change)]]),
    }));
    const bucket = (await own.find("remote")) as Bucket;
    const error = await errorOf(bucket.call({ method: "head", key: "a" }));
    expect(error).toBeInstanceOf(StoreError);
    expect((error as Error).message).toMatch(sentence);
    let wasRead = false;
    const body = (async function* () {
      wasRead = true;
      yield small;
    })();
    expect(await errorOf(bucket.write(body))).toBeInstanceOf(StoreError);
    expect(wasRead).toBe(false);
    await own.close();
  });
});
