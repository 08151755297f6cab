/** The client of a process that serves other programs, and buckets of the state folder behind it. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { StoreError } from "../../src/store/core/errors.ts";
import {
  failEffect,
  makeStoreFault,
  type FaultEffect,
  type StoreFault,
} from "../../src/store/core/fault.ts";
import { closeContent, type Bucket, type FoundObject } from "../../src/store/node/bucket.ts";
import type { StoreClient } from "../../src/store/node/store-client.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { blobFiles, shareStore, startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import { bucketSuite, operationsOf } from "./support/bucket-suite.ts";
import { chunksOf, description, openStoreClient, readAll } from "./support/store-client.ts";

/** The methods of `store_control` for faults. */
interface FaultControl {
  armFault(fault: StoreFault): Promise<string | null>;
  disarmFaults(): Promise<void>;
}

const large = bytesOf(3_000_000);
const day = 24 * 60 * 60 * 1000;
const waitOptions = { timeout: 60_000 };

const store = shareStore();
let client: StoreClient;
/** The bucket of the runtime's script, through the client. */
let photos: Bucket;
beforeAll(async () => {
  client = openStoreClient(store().folder);
  photos = (await client.find("photos")) as Bucket;
});
afterAll(() => client.close());

bucketSuite("local", () => photos);

const { put, get, create, part } = operationsOf(() => photos);

function openClient(folder: string): StoreClient {
  const opened = openStoreClient(folder);
  onTestFinished(() => opened.close());
  return opened;
}

async function putIn(bucket: Bucket, key: string, bytes: Uint8Array): Promise<void> {
  await operationsOf(() => bucket).put(key, bytes);
}

async function readIn(bucket: Bucket, key: string): Promise<Uint8Array | null> {
  const opened = await bucket.get({ key });
  return opened?.status === "found" ? readAll(opened) : null;
}

function setRules(abortRules: { prefix: string; days: number }[] | null): Promise<unknown> {
  const lifecycle = abortRules && { text: "<rules>", abortRules };
  return photos.call({ method: "putSettings", lifecycle });
}

/** The keys of the uploads in progress. */
async function keysOfUploads(prefix: string): Promise<string[]> {
  const { uploads } = await photos.call({ method: "listUploads", prefix, limit: 10 });
  return uploads.map(({ key }) => key);
}

/** Whether the store holds no file, also none in flight. */
const hasNoFiles = (): boolean => blobFiles(store().folder).length === 0;

describe("a bucket of the state folder", () => {
  it("leaves no file of content that is refused", async () => {
    const checksum = { algorithm: "md5", hex: "0".repeat(32) } as const;
    await expect(put("key", large, { checksum })).rejects.toThrow(expect.any(StoreError));
    const ifAny = { onlyIf: { etagMatches: [{ kind: "any" }] } } as const;
    expect(await put("key", large, ifAny)).toBeNull();
    await vi.waitFor(() => expect(hasNoFiles()).toBe(true), waitOptions);
  });

  it("reads the version that it has opened, while the object is replaced", async () => {
    await put("key", large);
    const opened = await get("key");
    await put("key", bytesOf(400_000, 2));
    expect(sameBytes(await readAll(opened), large)).toBe(true);
  });

  it("has checksums that the binding does not show", async () => {
    const content = await photos.write(chunksOf(large), { algorithms: ["crc64nvme", "sha256"] });
    const { md5, sha256 } = content.checksums;
    await photos.call({ method: "put", key: "key", ...description, content });
    const { bucket } = store();
    const [first] = (await bucket.list()).objects;
    for (const object of [await bucket.head("key"), first]) {
      expect(object?.checksums.toJSON()).toEqual({ md5, sha256 });
    }
    expect(sameBytes(await (await bucket.get("key"))?.bytes(), large)).toBe(true);
  });

  it("completes what the binding has begun, and the other way round", async () => {
    const { bucket } = store();
    const [first, last] = [bytesOf(5 * 1024 * 1024, 1), bytesOf(300_000, 2)];
    const begun = await bucket.createMultipartUpload("begun");
    const one = await begun.uploadPart(1, first);
    const end = await part({ key: "begun", uploadId: begun.uploadId }, 2, last);
    expect((await begun.complete([one, end])).size).toBe(first.length + last.length);

    const { key, uploadId } = await create("mixed", { checksumAlgorithm: "crc32" });
    const stored = await part({ key, uploadId }, 1, first);
    const resumed = bucket.resumeMultipartUpload(key, uploadId);
    await resumed.complete([stored, await resumed.uploadPart(2, last)]);
    // The binding's part has no CRC, so the object has none.
    const opened = await get(key);
    expect(opened.object).not.toHaveProperty("s3Checksums");
    expect(sameBytes(await readAll(opened), Buffer.concat([first, last]))).toBe(true);
  });

  it("lists uploads of a key by their age", async () => {
    const { control } = store();
    const ids: string[] = [];
    for (const key of ["aged/b", "aged/a", "aged/b"]) {
      await control.advance(1000);
      ids.push((await create(key)).uploadId);
    }
    const { uploads } = await photos.call({ method: "listUploads", prefix: "aged/", limit: 10 });
    const found = uploads.map(({ uploadId }) => uploadId);
    expect(found).toEqual([ids[1], ids[0], ids[2]]);
  });

  it("has settings by name, which are removed by name", async () => {
    const lifecycle = { text: "<rules>", abortRules: [] };
    const settings = () => photos.call({ method: "getSettings" });
    await photos.call({ method: "putSettings", cors: "[]", lifecycle });
    expect(await settings()).toEqual({ cors: "[]", lifecycle });
    await photos.call({ method: "putSettings", cors: null });
    expect(await settings()).toEqual({ lifecycle });
    await photos.call({ method: "putSettings", lifecycle: null });
    expect(await settings()).toEqual({});
  });

  it("aborts uploads after the days of a rule: those in progress, and new ones", async () => {
    const { bucket, control } = store();
    const begun = await bucket.createMultipartUpload("tmp/begun");
    await setRules([
      { prefix: "tmp/", days: 2 },
      { prefix: "", days: 30 },
    ]);
    const later = await bucket.createMultipartUpload("tmp/later");
    const other = await bucket.createMultipartUpload("tmq");
    await control.advance(2 * day - 60_000);
    expect(await keysOfUploads("tm")).toEqual(["tmp/begun", "tmp/later", "tmq"]);
    await control.advance(120_000);
    expect(await keysOfUploads("tm")).toEqual(["tmq"]);
    for (const upload of [begun, later]) {
      await expect(upload.uploadPart(1, "part")).rejects.toThrow("(10024)");
    }
    await control.advance(5 * day);
    await expect(other.uploadPart(1, "part")).rejects.toThrow("(10024)");
    await control.resetClock();
    // Uploads in progress have seven days again when the rule is removed.
    await setRules([{ prefix: "", days: 1 }]);
    const upload = await bucket.createMultipartUpload("key");
    await setRules(null);
    await control.advance(7 * day - 60_000);
    await upload.uploadPart(1, "part");
    await control.advance(120_000);
    await expect(upload.uploadPart(1, "part")).rejects.toThrow("(10024)");
  });

  it("has the faults of a test: a lost answer, an error, a delay", async () => {
    const { control } = store() as unknown as { control: FaultControl };
    const arm = (effect: FaultEffect) =>
      control.armFault(makeStoreFault({ method: "head", times: 1 }, effect));
    const request = { method: "head", key: "none" } as const;
    const head = () => photos.call(request);
    await arm({ kind: "drop", afterBytes: null });
    await expect(head()).rejects.toThrow("Network connection lost.");
    await arm(failEffect(10001));
    await expect(head()).rejects.toThrow(new StoreError(10001));
    await arm({ kind: "slow", milliseconds: 5 });
    expect(await head()).toBeNull();
    await control.disarmFaults();
  });

  it.each([3_000_000, 10])("copies %i bytes to another bucket", async (size) => {
    const bytes = large.slice(0, size);
    await client.create("copies");
    const copies = (await client.find("copies")) as Bucket;
    await put("key", bytes);
    for (const algorithms of [[], ["sha256"]] as const) {
      const opened = (await photos.get({ key: "key" })) as FoundObject;
      const content = await copies.copy(opened, algorithms);
      closeContent(opened);
      expect(Object.keys(content.checksums)).toEqual(["md5", ...algorithms]);
      await copies.call({ method: "put", key: "copy", ...description, content });
      expect(sameBytes((await readIn(copies, "copy")) as Uint8Array, bytes)).toBe(true);
    }
    await copies.call({ method: "delete", keys: ["copy"] });
    await client.delete("copies");
  });
});

describe("a batch with an unexpected error", () => {
  /** Two puts in one turn. The second carries more bytes than a client ever sends in a call. */
  const breaking = `
    const put = (BUCKET, key, size) =>
      BUCKET["ledge:bucket"]("call", {
        method: "put",
        key,
        content: { bytes: new Uint8Array(size), checksums: { md5: "0".repeat(32) } },
        http: {},
        custom: {},
        storageClass: "Standard",
      });
    export default {
      async fetch(request, { BUCKET }) {
        const results = await Promise.allSettled([
          put(BUCKET, new URL(request.url).pathname.slice(1), 1),
          put(BUCKET, "large", 1024 * 1024),
        ]);
        return Response.json(results.map(({ reason }) => reason?.message));
      },
    };`;

  it("changes neither the database nor the cache", async () => {
    const { bucket, miniflare } = await startStore(temporaryFolder(), [worker(breaking)]);
    await bucket.put("old", "value");
    for (const key of ["old", "new"]) {
      const response = await miniflare.dispatchFetch(`http://script/${key}`);
      const message = "put: We encountered an internal error. Please try again. (10001)";
      expect(await response.json()).toEqual([message, message]);
    }
    expect(await (await bucket.get("old"))?.text()).toBe("value");
    expect(await bucket.head("new")).toBeNull();
    expect((await bucket.list()).objects.map(({ key }) => key)).toEqual(["old"]);
  });
});

/** `killed-client.ts`, which has stored one object and is writing the content of another. */
async function startWriter(folder: string): Promise<{ kill: () => Promise<void> }> {
  const program = fileURLToPath(new URL("./support/killed-client.ts", import.meta.url));
  const writer = spawn(process.execPath, [program, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => writer.once("close", () => resolve()));
  const kill = (): Promise<void> => {
    writer.kill("SIGKILL");
    return ended;
  };
  onTestFinished(kill);
  await new Promise((resolve) => writer.stdout.once("data", resolve));
  await vi.waitFor(() => expect(blobFiles(folder)).toHaveLength(2), waitOptions);
  return { kill };
}

describe("a process that is killed while it writes", () => {
  it("keeps its file while it lives; the next start removes the file", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const writer = await startWriter(folder);
    expect(await owner.control.collectGarbage("photos")).toBe(0);
    expect(blobFiles(folder)).toHaveLength(2);
    await writer.kill();
    await owner.stop();

    const { bucket } = await startStore(folder);
    expect(sameBytes(await (await bucket.get("kept"))?.bytes(), bytesOf(200_000))).toBe(true);
    await vi.waitFor(() => expect(blobFiles(folder)).toHaveLength(1), waitOptions);
  });

  it("leaves a file that an owner which goes on can collect", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const writer = await startWriter(folder);
    await writer.kill();
    await vi.waitFor(async () => {
      await owner.control.collectGarbage("photos");
      expect(blobFiles(folder)).toHaveLength(1);
    }, waitOptions);
  });
});

describe("StoreClient", () => {
  it("makes buckets that all clients see, and that survive a restart", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const first = openClient(folder);
    await first.create("made");
    await first.create("made");
    await putIn((await first.find("made")) as Bucket, "key", large);
    await first.close();
    await owner.stop();

    await startStore(folder);
    const second = openClient(folder);
    const listed = await second.list();
    expect(listed.map(({ name }) => name)).toEqual(["made", "photos"]);
    expect(listed.every(({ created }) => Math.abs(created - Date.now()) < 600_000)).toBe(true);
    const made = (await second.find("made")) as Bucket;
    expect(sameBytes((await readIn(made, "key")) as Uint8Array, large)).toBe(true);
  });

  it("deletes an empty bucket, whose files the next start removes", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const first = openClient(folder);
    await first.create("made");
    const made = (await first.find("made")) as Bucket;
    await putIn(made, "key", large);
    await expect(first.delete("made")).rejects.toThrow(new StoreError(10008));
    await made.call({ method: "delete", keys: ["key"] });
    const { uploadId } = await made.call({ method: "createUpload", key: "key", ...description });
    await expect(first.delete("made")).rejects.toThrow(new StoreError(10008));
    await made.call({ method: "abortUpload", key: "key", uploadId });
    await first.delete("made");

    expect(await first.find("made")).toBeNull();
    await expect(first.delete("made")).rejects.toThrow(new StoreError(10006));
    await expect(made.call({ method: "head", key: "key" })).rejects.toThrow(new StoreError(10006));
    await expect(putIn(made, "key", large)).rejects.toThrow(new StoreError(10006));
    expect((await first.list()).map(({ name }) => name)).toEqual(["photos"]);
    await owner.bucket.head("key");
    const before = databases(folder);
    expect(before).toHaveLength(2);
    await first.close();
    await owner.stop();

    const later = await startStore(folder);
    await later.bucket.head("key");
    expect(databases(folder)).toHaveLength(1);
    expect(existsSync(join(folder, "store", "blobs", "made"))).toBe(false);
    const second = openClient(folder);
    await second.create("made");
    expect(await readIn((await second.find("made")) as Bucket, "key")).toBeNull();
  });

  it("makes or deletes a bucket whose deletion was cut short", async () => {
    for (const [round, correct] of [
      () => client.create("cut"),
      () => client.delete("cut"),
    ].entries()) {
      await client.create("cut");
      const cut = (await client.find("cut")) as Bucket;
      // What a process has done that is killed before it removes the folder.
      await cut.call({ method: "deleteBucket" });
      await expect(putIn(cut, "key", large.slice(0, 10))).rejects.toThrow(new StoreError(10006));
      await correct();
      expect((await client.find("cut")) === null).toBe(round === 1);
    }
    await client.create("cut");
    await putIn((await client.find("cut")) as Bucket, "key", large);
    await ((await client.find("cut")) as Bucket).call({
      method: "delete",
      keys: ["key"],
    });
    await client.delete("cut");
  });

  it("refuses names that are not valid, and the deletion of a configured bucket", async () => {
    for (const name of ["..", "a/b", "", "Upper", "a.b.c", "x"]) {
      expect(await client.find(name)).toBeNull();
      await expect(client.create(name)).rejects.toThrow(new StoreError(10005));
      await expect(client.delete(name)).rejects.toThrow(new StoreError(10006));
    }
    await expect(client.delete("photos")).rejects.toThrow(
      'The bucket "photos" is a bucket of the configuration. Remove the bucket from ledge.toml first.',
    );
  });

  it("stores an object or deletes the bucket, when both are requested at once", async () => {
    const other = openClient(store().folder);
    for (let round = 0; round < 40; round++) {
      await client.create("raced");
      const bucket = (await client.find("raced")) as Bucket;
      const content = await bucket.write(chunksOf(large.subarray(0, round % 2 ? 200_000 : 100)));
      const deleting = codeOf(other.delete("raced"));
      // Around the time that the deletion takes.
      await new Promise((resolve) => setTimeout(resolve, round / 4));
      const storing = codeOf(bucket.call({ method: "put", key: "key", ...description, content }));
      const [deleted, stored] = await Promise.all([deleting, storing]);
      expect(stored).toBe(deleted === 0 ? 10006 : 0);
      expect([0, 10008]).toContain(deleted);
      expect((await client.find("raced")) === null).toBe(deleted === 0);
      await client.create("raced");
      const again = (await client.find("raced")) as Bucket;
      expect((await readIn(again, "key")) === null).toBe(deleted === 0);
      await again.call({ method: "delete", keys: ["key"] });
    }
    await client.delete("raced");
    await vi.waitFor(() => expect(hasNoFiles()).toBe(true), waitOptions);
  });
});

/** The code of the error, or 0. */
function codeOf(promise: Promise<unknown>): Promise<number> {
  return promise.then(
    () => 0,
    (error: StoreError) => error.code,
  );
}

/** The databases of buckets. */
function databases(folder: string): string[] {
  const names = readdirSync(join(folder, "store", "databases", "ledge-store-bucket"));
  return names.filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name));
}
