/** The client of a process that serves other programs: content, and buckets that requests make. */
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ChecksumAlgorithm } from "../../src/store/core/checksum.ts";
import { crcOf } from "../../src/store/core/hash.ts";
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
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { shareStoreClient } from "./support/shared-store-client.ts";
import { chunksOf, description, openStoreClient, readAll } from "./support/store-client.ts";

/** The methods of `store_control` for faults. */
interface FaultControl {
  armFault(fault: StoreFault): Promise<string | null>;
  disarmFaults(): Promise<void>;
}

const large = bytesOf(3_000_000);
const waitOptions = { timeout: 60_000 };

const shared = shareStoreClient();

function openClient(folder: string): StoreClient {
  const opened = openStoreClient(folder);
  onTestFinished(() => opened.close());
  return opened;
}

async function put(bucket: Bucket, key: string, bytes: Uint8Array): Promise<void> {
  const content = await bucket.write(chunksOf(bytes));
  await bucket.call({ method: "put", key, ...description, content });
}

async function get(bucket: Bucket, key: string): Promise<Uint8Array | null> {
  const opened = await bucket.get({ key });
  return opened?.status === "found" ? readAll(opened) : null;
}

/** Whether the store holds no file, also none in flight. */
const hasNoFiles = (): boolean => blobFiles(shared.store().folder).length === 0;

describe("Bucket.write()", () => {
  it.each([0, 1, 131_072, 131_073, 3_000_000])("stores %d bytes for the binding", async (size) => {
    const bytes = large.slice(0, size);
    await put(shared.photos, "key", bytes);
    const { bucket } = shared.store();
    expect(sameBytes(await (await bucket.get("key"))?.bytes(), bytes)).toBe(true);
    expect((await bucket.head("key"))?.etag).toBe(hash("md5", bytes));
    expect(sameBytes((await get(shared.photos, "key")) as Uint8Array, bytes)).toBe(true);
  });

  it.each([1000, 3_000_000])("computes all checksums of %d bytes", async (size) => {
    const bytes = large.slice(0, size);
    const algorithms: ChecksumAlgorithm[] = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"];
    const content = await shared.photos.write(chunksOf(bytes), { algorithms });
    onTestFinished(() => shared.photos.discard(content));
    expect(content.checksums).toEqual({
      md5: hash("md5", bytes),
      crc32: crc32(bytes).toString(16).padStart(8, "0"),
      crc32c: crcOf("crc32c", bytes),
      crc64nvme: crcOf("crc64nvme", bytes),
      sha1: hash("sha1", bytes),
      sha256: hash("sha256", bytes),
    });
  });

  it("takes chunks whose memory the caller uses again", async () => {
    async function* reused(): AsyncGenerator<Uint8Array> {
      const memory = new Uint8Array(50_000);
      for (let start = 0; start < large.length; start += memory.length) {
        memory.set(large.subarray(start, start + memory.length));
        yield memory;
      }
    }
    const content = await shared.photos.write(reused());
    await shared.photos.call({ method: "put", key: "key", ...description, content });
    expect(sameBytes((await get(shared.photos, "key")) as Uint8Array, large)).toBe(true);
  });

  it("leaves no file when the body fails, or when its checksums are refused", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield* chunksOf(large);
      throw new Error("the client went away");
    }
    await expect(shared.photos.write(failing())).rejects.toThrow("the client went away");
    const options = {
      verify(): never {
        throw new StoreError(10037);
      },
    };
    await expect(shared.photos.write(chunksOf(large), options)).rejects.toThrow(
      new StoreError(10037),
    );
    expect(hasNoFiles()).toBe(true);
  });

  it("leaves no file when the bucket refuses the operation", async () => {
    const content = await shared.photos.write(chunksOf(large), { algorithms: ["crc32"] });
    const checksum = { algorithm: "crc32", hex: "00000000" } as const;
    const request = { method: "put", key: "key", ...description, content } as const;
    await expect(shared.photos.call({ ...request, checksum })).rejects.toThrow(
      expect.objectContaining({ name: "StoreError", code: 10037 }),
    );
    await vi.waitFor(() => expect(hasNoFiles()).toBe(true), waitOptions);
    const again = await shared.photos.write(chunksOf(large));
    const onlyIf = { etagMatches: [{ kind: "any" }] } as const;
    expect(await shared.photos.call({ ...request, content: again, onlyIf })).toBeNull();
    await vi.waitFor(() => expect(hasNoFiles()).toBe(true), waitOptions);
  });
});

describe("Bucket.get()", () => {
  it("reads the version that it has opened, while the object is replaced", async () => {
    await put(shared.photos, "key", large);
    const opened = (await shared.photos.get({ key: "key" })) as FoundObject;
    await put(shared.photos, "key", bytesOf(400_000, 2));
    expect(sameBytes(await readAll(opened), large)).toBe(true);
  });
});

describe("a fault of a test", () => {
  it("loses the answer of an operation, fails it, or delays it", async () => {
    const { control } = shared.store() as unknown as { control: FaultControl };
    const arm = (effect: FaultEffect) =>
      control.armFault(makeStoreFault({ method: "head", times: 1 }, effect));
    const request = { method: "head", key: "none" } as const;
    const head = () => shared.photos.call(request);
    await arm({ kind: "drop", afterBytes: null });
    await expect(head()).rejects.toThrow("Network connection lost.");
    await arm(failEffect(10001));
    await expect(head()).rejects.toThrow(new StoreError(10001));
    await arm({ kind: "slow", milliseconds: 5 });
    expect(await head()).toBeNull();
    await control.disarmFaults();
  });
});

describe("Bucket.copy()", () => {
  it.each([
    ["a file", 3_000_000],
    ["a small value", 10],
  ])("copies %s to another bucket", async (_, size) => {
    const bytes = large.slice(0, size);
    await shared.client.create("copies");
    const copies = (await shared.client.find("copies")) as Bucket;
    await put(shared.photos, "key", bytes);
    for (const algorithms of [[], ["sha256"]] as const) {
      const opened = (await shared.photos.get({ key: "key" })) as FoundObject;
      const content = await copies.copy(opened, algorithms);
      closeContent(opened);
      expect(content.checksums).toEqual({
        md5: hash("md5", bytes),
        ...(algorithms.length > 0 && { sha256: hash("sha256", bytes) }),
      });
      await copies.call({ method: "put", key: "copy", ...description, content });
      expect(sameBytes((await get(copies, "copy")) as Uint8Array, bytes)).toBe(true);
    }
    await copies.call({ method: "delete", keys: ["copy"] });
    await shared.client.delete("copies");
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
    await put((await first.find("made")) as Bucket, "key", large);
    await first.close();
    await owner.stop();

    await startStore(folder);
    const second = openClient(folder);
    const listed = await second.list();
    expect(listed.map(({ name }) => name)).toEqual(["made", "photos"]);
    expect(listed.every(({ created }) => Math.abs(created - Date.now()) < 600_000)).toBe(true);
    const made = (await second.find("made")) as Bucket;
    expect(sameBytes((await get(made, "key")) as Uint8Array, large)).toBe(true);
  });

  it("deletes an empty bucket, whose files the next start removes", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    const first = openClient(folder);
    await first.create("made");
    const made = (await first.find("made")) as Bucket;
    await put(made, "key", large);
    await expect(first.delete("made")).rejects.toThrow(new StoreError(10008));
    await made.call({ method: "delete", keys: ["key"] });
    const { uploadId } = await made.call({ method: "createUpload", key: "key", ...description });
    await expect(first.delete("made")).rejects.toThrow(new StoreError(10008));
    await made.call({ method: "abortUpload", key: "key", uploadId });
    await first.delete("made");

    expect(await first.find("made")).toBeNull();
    await expect(first.delete("made")).rejects.toThrow(new StoreError(10006));
    await expect(made.call({ method: "head", key: "key" })).rejects.toThrow(new StoreError(10006));
    await expect(put(made, "key", large)).rejects.toThrow(new StoreError(10006));
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
    expect(await get((await second.find("made")) as Bucket, "key")).toBeNull();
  });

  it("makes or deletes a bucket whose deletion was cut short", async () => {
    for (const [round, correct] of [
      () => shared.client.create("cut"),
      () => shared.client.delete("cut"),
    ].entries()) {
      await shared.client.create("cut");
      const cut = (await shared.client.find("cut")) as Bucket;
      // What a process has done that is killed before it removes the folder.
      await cut.call({ method: "deleteBucket" });
      await expect(put(cut, "key", large.slice(0, 10))).rejects.toThrow(new StoreError(10006));
      await correct();
      expect((await shared.client.find("cut")) === null).toBe(round === 1);
    }
    await shared.client.create("cut");
    await put((await shared.client.find("cut")) as Bucket, "key", large);
    await ((await shared.client.find("cut")) as Bucket).call({
      method: "delete",
      keys: ["key"],
    });
    await shared.client.delete("cut");
  });

  it("refuses names that are not valid, and the deletion of a configured bucket", async () => {
    for (const name of ["..", "a/b", "", "Upper", "a.b.c", "x"]) {
      expect(await shared.client.find(name)).toBeNull();
      await expect(shared.client.create(name)).rejects.toThrow(new StoreError(10005));
      await expect(shared.client.delete(name)).rejects.toThrow(new StoreError(10006));
    }
    await expect(shared.client.delete("photos")).rejects.toThrow(
      'The bucket "photos" is a bucket of the configuration. Remove the bucket from ledge.toml first.',
    );
  });

  it("stores an object or deletes the bucket, when both are requested at once", async () => {
    const other = openClient(shared.store().folder);
    for (let round = 0; round < 40; round++) {
      await shared.client.create("raced");
      const bucket = (await shared.client.find("raced")) as Bucket;
      const content = await bucket.write(chunksOf(large.subarray(0, round % 2 ? 200_000 : 100)));
      const deleting = codeOf(other.delete("raced"));
      // Around the time that the deletion takes.
      await new Promise((resolve) => setTimeout(resolve, round / 4));
      const storing = codeOf(bucket.call({ method: "put", key: "key", ...description, content }));
      const [deleted, stored] = await Promise.all([deleting, storing]);
      expect(stored).toBe(deleted === 0 ? 10006 : 0);
      expect([0, 10008]).toContain(deleted);
      expect((await shared.client.find("raced")) === null).toBe(deleted === 0);
      await shared.client.create("raced");
      const again = (await shared.client.find("raced")) as Bucket;
      expect((await get(again, "key")) === null).toBe(deleted === 0);
      await again.call({ method: "delete", keys: ["key"] });
    }
    await shared.client.delete("raced");
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
