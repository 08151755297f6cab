/** The channels of a process to the buckets of another: what they carry, and how they end. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Bucket } from "../../src/store/node/bucket.ts";
import { OwnerConnection } from "../../src/store/node/owner-connection.ts";
import { OperationQueue } from "../../src/store/node/local-bucket.ts";
import { description, openStoreClient } from "../store/support/store-client.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { startStore, temporaryFolder, type Store } from "../support/store.ts";
import { EndpointProxy } from "./support/endpoint-proxy.ts";
import { injectionProblem, withInjection, workerdBelow } from "./support/injected-io.ts";

const noInjection = injectionProblem();
const waitOptions = { timeout: 60_000 };
const clientProgram = fileURLToPath(new URL("support/programs/channel-client.ts", import.meta.url));

interface Client {
  readonly owner: Store;
  readonly proxy: EndpointProxy;
  readonly photos: Bucket;
}

/** An owner, and a client in this process whose channel to the bucket is open. */
async function startClient(): Promise<Client> {
  const folder = temporaryFolder();
  const owner = await startStore(folder);
  await owner.bucket.put("key", "value");
  const proxy = await EndpointProxy.start(join(folder, "store/sockets/endpoint"));
  const client = openStoreClient(folder);
  onTestFinished(() => client.close());
  const photos = (await client.find("photos")) as Bucket;
  await openChannel(photos, proxy);
  return { owner, proxy, photos };
}

/** Calls until a call travels through a channel. */
async function openChannel(photos: Bucket, proxy: EndpointProxy): Promise<void> {
  proxy.plan();
  await vi.waitFor(async () => {
    await photos.call({ method: "head", key: "key" });
    expect(proxy.channelRequests).toBeGreaterThan(0);
  }, waitOptions);
  proxy.plan();
}

/** A client of an owner that another part of the test starts. */
function openQueue(folder: string) {
  const connection = new OwnerConnection(join(folder, "store"), { succeeds: false });
  onTestFinished(() => connection.close());
  const queue = new OperationQueue(connection, "photos");
  return { connection, head: () => queue.execute<"head">({ method: "head", key: "key" }) };
}

function put(photos: Bucket, key: string, bytes: Uint8Array): Promise<unknown> {
  const content = { bytes, checksums: { md5: "0".repeat(32) } };
  return photos.call({ method: "put", key, ...description, content });
}

async function inlineBytes(photos: Bucket, key: string): Promise<Uint8Array | null> {
  const found = await photos.get({ key });
  return found?.status === "found" && found.content instanceof Uint8Array ? found.content : null;
}

describe("a channel", () => {
  it("carries all calls of a process, and gives each its own answer", async () => {
    const { proxy, photos } = await startClient();
    const objects = Array.from({ length: 200 }, (_, index) => ({
      key: `key-${index}`,
      bytes: bytesOf(100_000, index),
    }));
    // The answers of the gets are 20 MB, in a few messages.
    await Promise.all(objects.map(({ key, bytes }) => put(photos, key, bytes)));
    const found = await Promise.all(objects.map(({ key }) => inlineBytes(photos, key)));
    for (const [index, { bytes }] of objects.entries()) {
      expect(sameBytes(found[index] ?? undefined, bytes)).toBe(true);
    }
    expect(proxy.requests).toBe(proxy.channelRequests);
  });

  it("opens again after it was lost", async () => {
    const { proxy, photos } = await startClient();
    proxy.plan({ loss: "after", requestNumber: 1 });
    await put(photos, "key", bytesOf(10));
    expect({ lost: proxy.lost, requests: proxy.requests }).toEqual({ lost: 1, requests: 2 });
    expect(proxy.channelRequests).toBe(1);
    await openChannel(photos, proxy);
  });

  it("ends with its owner, and the next owner answers", async () => {
    const folder = temporaryFolder();
    const owner = await startStore(folder);
    await owner.bucket.put("key", "value");
    const { head } = openQueue(folder);
    for (let call = 0; call < 10; call++) await head();
    await owner.stop();
    const waiting = head();
    await startStore(folder);
    expect(await waiting).toMatchObject({ ok: true, value: expect.any(String) });
  });

  it("does not keep a process alive, except while the process waits for an answer", async () => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder);
    await bucket.put("key", "value");
    const { stdout } = await promisify(execFile)(process.execPath, [
      clientProgram,
      join(folder, "store"),
    ]);
    expect(stdout).toBe("found 20\n");
  });

  it("refuses further calls when the process has closed the store", async () => {
    const folder = temporaryFolder();
    await (await startStore(folder)).bucket.put("key", "value");
    const { connection, head } = openQueue(folder);
    for (let call = 0; call < 10; call++) await head();
    const waiting = head();
    // The call is on its way when the store is closed.
    await new Promise(setImmediate);
    await Promise.all([expect(waiting).rejects.toThrow(/is closed/), connection.close()]);
    await expect(head()).rejects.toThrow(/is closed/);
  });
});

describe.skipIf(noInjection !== null)("a commit that fails", () => {
  it("is not acknowledged through a channel: the batch is sent again", async () => {
    const { owner, proxy, photos } = await startClient();
    const [runtime] = workerdBelow() as [number];
    const failing = { calls: "fsync,fdatasync", error: "EIO", when: "1" } as const;
    const failed = await withInjection(runtime, failing, async () => {
      await put(photos, "key", bytesOf(2000));
    });
    expect(failed).toBe(1);
    expect({ all: proxy.requests, channel: proxy.channelRequests }).toEqual({ all: 2, channel: 1 });
    expect(await (await owner.bucket.get("key"))?.bytes()).toEqual(bytesOf(2000));
    await openChannel(photos, proxy);
  });
});
