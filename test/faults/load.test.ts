/**
 * Load: memory, open files and the state folder stay bounded over thousands of requests, and work
 * in the background does not keep the bucket from answering.
 *
 * Stalls are counted in operations and not in seconds: calls that are sent one after the other
 * during such work are answered before the work ends.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { findRuntimeProcess, residentBytes } from "../support/processes.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { worker } from "../support/worker.ts";
import { openBucketDatabase } from "../support/databases.ts";
import { liveBytes } from "./support/inspector.ts";
import { isLong } from "./support/seed.ts";
import { addSparseUploadParts, createSparseFiles } from "./support/sparse-parts.ts";

const mebibyte = 1024 * 1024;
/** Live objects may grow by this much once, and by this much with each request. */
const growthMax = mebibyte;
const growthEach = 128;
const day = 24 * 60 * 60 * 1000;

function uploadId(n: number): string {
  return n.toString(16).padStart(128, "0");
}

/** How many calls of the bucket are answered while `isWorking`. */
async function answeredWhile(bucket: StoreBucket, isWorking: () => boolean): Promise<number> {
  let answered = 0;
  for (; isWorking(); answered++) await bucket.head(`key-${answered}`);
  return answered;
}

describe("a bucket answers", () => {
  it("while thousands of uploads expire", { timeout: 600_000 }, async () => {
    const uploadCount = isLong ? 100_000 : 10_000;
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("key", "value");
    await first.stop();
    const written = openBucketDatabase(folder);
    const insert = written.prepare(
      "INSERT INTO uploads (upload_id, key, state, since, created, storage_class, http, custom) " +
        "VALUES (?, ?, 'in progress', ?, 0, 'Standard', '{}', '{}')",
    );
    written.exec("BEGIN");
    for (let n = 0; n < uploadCount; n++) insert.run(uploadId(n), `key-${n}`, Date.now() - 8 * day);
    written.exec("COMMIT");
    written.close();

    const { bucket } = await startStore(folder);
    const database = openBucketDatabase(folder, true);
    const count = database.prepare("SELECT count(*) AS n FROM uploads WHERE state = 'in progress'");
    const left = () => (count.get() as { n: number }).n;
    const last = bucket.resumeMultipartUpload(`key-${uploadCount - 1}`, uploadId(uploadCount - 1));
    // The upload counts as expired before its row says so.
    await expect(last.uploadPart(1, "part")).rejects.toThrow("(10024)");
    await expect(last.complete([])).rejects.toThrow("(10024)");
    await expect(last.abort()).resolves.toBeUndefined();
    expect(await answeredWhile(bucket, () => left() > 0)).toBeGreaterThan(0);
    database.close();
  });

  it("while an upload of thousands of parts is aborted", { timeout: 600_000 }, async () => {
    const partCount = isLong ? 10_000 : 2000;
    const folder = temporaryFolder();
    const first = await startStore(folder);
    const created = await first.bucket.createMultipartUpload("key");
    await first.stop();
    addSparseUploadParts(folder, partCount);

    const { bucket } = await startStore(folder);
    const upload = bucket.resumeMultipartUpload(created.key, created.uploadId);
    await upload.abort();
    await expect(upload.uploadPart(1, "part")).rejects.toThrow("(10024)");
    await expect(upload.abort()).resolves.toBeUndefined();
    expect(await answeredWhile(bucket, () => blobFiles(folder).length > 0)).toBeGreaterThan(0);
  });

  it("while thousands of files of a crash are collected", { timeout: 600_000 }, async () => {
    const count = isLong ? 100_000 : 3000;
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("key", "value");
    await first.stop();
    createSparseFiles({ folder, count, bytes: 1, runId: "0123456789abcdef" });

    const { bucket } = await startStore(folder);
    await bucket.head("key");
    expect(await answeredWhile(bucket, () => blobFiles(folder).length > 0)).toBeGreaterThan(0);
  });
});

/** One request uses every kind of call, on a bounded number of keys. */
const script = `
  const small = new Uint8Array(1000).fill(1);
  const large = new Uint8Array(150000).fill(2);
  export default {
    async fetch(request, { BUCKET }) {
      const n = Number(new URL(request.url).searchParams.get("n"));
      const key = "key-" + (n % 40);
      await BUCKET.put(key, n % 10 === 0 ? large : small, { customMetadata: { n: String(n) } });
      // Bodies that are read, bodies that are not read, and bodies that are cancelled.
      const object = await BUCKET.get("key-" + (n % 37));
      if (n % 3 === 0) await object?.arrayBuffer();
      if (n % 3 === 1) await object?.body.cancel();
      await BUCKET.list({ limit: 10, include: ["customMetadata"] });
      if (n % 7 === 0) await BUCKET.delete(key);
      if (n % 50 === 0) {
        const upload = await BUCKET.createMultipartUpload("parts");
        const part = await upload.uploadPart(1, large);
        if (n % 100 === 0) await upload.abort();
        else await upload.complete([part]);
      }
      return new Response("done");
    },
  };`;

function folderBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => {
      const file = lstatSync(join(parentPath, name), { throwIfNoEntry: false });
      return sum + (file?.size ?? 0);
    }, 0);
}

describe.runIf(process.platform === "linux")("many requests", () => {
  it("leave memory, open files and the state folder bounded", { timeout: 1_800_000 }, async () => {
    const rounds = isLong ? 20 : 2;
    const roundRequests = isLong ? 1000 : 120;
    const folder = temporaryFolder();
    const miniflare = new Miniflare({
      resourcePersistencePath: folder,
      inspectorPort: 0,
      workers: [worker(script)],
    });
    onTestFinished(() => miniflare.dispose());
    const inspector = await miniflare.getInspectorURL();
    let n = 0;
    const client = async (requests: number) => {
      for (let sent = 0; sent < requests; sent++) {
        const response = await miniflare.dispatchFetch(`http://script/?n=${n++}`);
        expect(await response.text()).toBe("done");
      }
    };
    const clientCount = 8;
    const runRound = () =>
      Promise.all(Array.from({ length: clientCount }, () => client(roundRequests / clientCount)));
    const processId = findRuntimeProcess(folder);
    const countHandles = () => readdirSync(`/proc/${processId}/fd`).length;
    const measure = async () => {
      const measured = {
        liveBytes: await liveBytes(inspector),
        residentMebibytes: Math.round(residentBytes(processId) / mebibyte),
        handles: countHandles(),
        stateBytes: folderBytes(folder),
      };
      console.log(`after ${n} requests:`, JSON.stringify(measured));
      return measured;
    };
    // The first round fills caches and compiles code.
    await runRound();
    const before = await measure();
    for (let done = 1; done <= rounds; done++) await runRound();
    // Requests that have ended close their files.
    await vi.waitFor(() => expect(countHandles()).toBeLessThanOrEqual(before.handles + 8), {
      timeout: 60_000,
    });
    const after = await measure();
    // Forty keys, of which each tenth is large, and the log of the database.
    expect(after.stateBytes).toBeLessThan(16 * mebibyte);
    expect(after.liveBytes - before.liveBytes).toBeLessThan(
      growthMax + rounds * roundRequests * growthEach,
    );
    expect(after.residentMebibytes).toBeLessThan(1024);
  });
});
