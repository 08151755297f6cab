/** The client of a process with a remote bucket. `remote-bucket.test.ts` has what such a bucket does. */
import { hash } from "node:crypto";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { StoreError } from "../../src/store/core/errors.ts";
import { closeContent, type Bucket, type FoundObject } from "../../src/store/node/bucket.ts";
import { StoreClient } from "../../src/store/node/store-client.ts";
import { useS3 } from "../s3/support/running-s3.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { startFaultyProxy } from "../support/faulty-proxy.ts";
import { shareStore, temporaryFolder } from "../support/store.ts";
import { operationsOf } from "./support/bucket-suite.ts";
import { description, readAll } from "./support/store-client.ts";

const service = useS3({ buckets: [{ name: "cluster-bucket" }] });
const [small, large] = [bytesOf(1000, 2), bytesOf(3_000_000, 3)];

function openClient(folder: string, change: object = {}): StoreClient {
  const access = {
    remote: "cluster",
    endpoint: service.server.url,
    region: "us-east-1",
    bucketName: "cluster-bucket",
    prefix: "app/",
    credentials: service.server.credentials,
    accept: [],
    ...change,
  };
  const remotes = new Map([["remote", access]]);
  return new StoreClient(folder, () => ({
    names: ["photos", "remote"],
    file: "ledge.toml",
    remotes,
  }));
}

const store = shareStore();
let client: StoreClient;
beforeAll(() => {
  client = openClient(join(store().folder, "store"));
});
afterAll(() => client.close());

const find = async (from: StoreClient, name = "remote") => (await from.find(name)) as Bucket;
const spoolFolders = () => readdirSync(tmpdir()).filter((name) => name.startsWith("ledge-spool-"));

describe("a client with a remote bucket", () => {
  it.each([
    ["photos", "remote"],
    ["remote", "photos"],
    ["remote", "remote"],
  ])("copies an object of the bucket %s to %s", async (from, to) => {
    const [source, target] = [await find(client, from), await find(client, to)];
    for (const bytes of [small, large]) {
      await operationsOf(() => source).put("source", bytes);
      const opened = (await source.get({ key: "source" })) as FoundObject;
      const content = await target.copy(opened, ["sha512"]);
      closeContent(opened);
      const checksums = { md5: hash("md5", bytes), sha512: hash("sha512", bytes) };
      expect(content.checksums).toMatchObject(checksums);
      await target.call({ method: "put", ...description, key: "copy", content });
      const copy = (await target.get({ key: "copy" })) as FoundObject;
      expect(sameBytes(await readAll(copy), bytes)).toBe(true);
    }
  });

  it("lists the bucket, and no request creates or deletes it", async () => {
    const names = (await client.list()).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["photos", "remote"]));
    await client.create("remote");
    await expect(client.delete("remote")).rejects.toMatchObject({ code: 200003 });
  });

  it("keeps large content in a temporary folder, which its end removes", async () => {
    const before = spoolFolders();
    const folder = temporaryFolder();
    const own = openClient(folder, { prefix: "own/" });
    const bucket = await find(own);
    await operationsOf(() => bucket).put("large", large);
    const [made, ...others] = spoolFolders().filter((name) => !before.includes(name));
    expect(others).toEqual([]);
    expect(readdirSync(`${tmpdir()}/${made}`)).toEqual(["lock"]);
    await own.close();
    expect(spoolFolders()).not.toContain(made);
    // A runtime would have left its databases. What the service honours is kept.
    expect(readdirSync(folder)).toEqual(["remotes", "sockets"]);
  });

  it("writes nothing to the service before the first operation that needs its features", async () => {
    const proxy = await startFaultyProxy(service.server.url);
    const own = openClient(temporaryFolder(), { endpoint: proxy.endpoint, prefix: "reading/" });
    onTestFinished(async () => {
      await own.close();
      await proxy.close();
    });
    const written = () => proxy.log.filter(({ method }) => method === "PUT").length;
    const bucket = await find(own);
    const { list, head, remove, put } = operationsOf(() => bucket);
    await list();
    await bucket.call({ method: "stats" });
    await head("a");
    expect(await bucket.get({ key: "a" })).toBeNull();
    await bucket.call({ method: "listUploads", prefix: "", limit: 10 });
    expect(written()).toBe(0);
    await remove(["a"]);
    const probed = written();
    expect(probed).toBeGreaterThan(0);
    await put("a", small);
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
    const own = openClient(temporaryFolder(), change);
    const bucket = await find(own);
    const head = bucket.call({ method: "head", key: "a" });
    await expect(head).rejects.toThrow(sentence);
    await expect(head).rejects.toBeInstanceOf(StoreError);
    let wasRead = false;
    const body = (async function* () {
      wasRead = true;
      yield small;
    })();
    await expect(bucket.write(body)).rejects.toBeInstanceOf(StoreError);
    expect(wasRead).toBe(false);
    await own.close();
  });
});
