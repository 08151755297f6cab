/** Multipart uploads end by themselves, seven days after their creation. */
import { describe, expect, it, vi } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import { blobFiles, startStore, temporaryFolder, type Store } from "../support/store.ts";
import { letTimePass } from "./support/time.ts";

const second = 1000;
const week = 7 * 24 * 60 * 60 * second;
const gone = /The specified multipart upload does not exist\. \(10024\)$/;
const large = bytesOf(200_000);

async function startUpload({ bucket }: Store) {
  const upload = await bucket.createMultipartUpload("key");
  const part = await upload.uploadPart(1, large);
  return { upload, part };
}

describe("a multipart upload", () => {
  it("still completes after seven days less a second", async () => {
    const store = await startStore(temporaryFolder());
    const { upload, part } = await startUpload(store);
    await store.control.advance(week - second);
    expect((await upload.complete([part])).size).toBe(large.length);
  });

  it("is gone after seven days and a second, and its parts with it", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    const { upload, part } = await startUpload(store);
    expect(blobFiles(folder)).toHaveLength(1);

    await store.control.advance(week + second);

    expect(blobFiles(folder)).toEqual([]);
    await expect(upload.uploadPart(2, "x")).rejects.toThrow(gone);
    await expect(upload.complete([part])).rejects.toThrow(gone);
    // It was aborted, and aborting twice is no error.
    await expect(upload.abort()).resolves.toBeUndefined();
  });

  it("ends on access, before any alarm", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    const { upload } = await startUpload(first);
    await first.stop();
    letTimePass(folder, week + second);

    const { bucket } = await startStore(folder);
    const resumed = bucket.resumeMultipartUpload(upload.key, upload.uploadId);
    await expect(resumed.uploadPart(2, "x")).rejects.toThrow(gone);
    expect(blobFiles(folder)).toEqual([]);
  });

  it("ends on the next start when its time passed while nothing ran", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await startUpload(first);
    await first.stop();
    letTimePass(folder, week + second);

    // Nobody asks for the bucket: the alarm that is overdue does it.
    await startStore(folder);
    await vi.waitFor(() => expect(blobFiles(folder)).toEqual([]), { timeout: 20_000 });
  });

  it("is forgotten seven days after it has ended", async () => {
    const { bucket, control } = await startStore(temporaryFolder());
    const upload = await bucket.createMultipartUpload("key");
    await upload.abort();
    await control.advance(week - second);
    await expect(upload.abort()).resolves.toBeUndefined();
    await control.advance(2 * second);
    await expect(upload.abort()).rejects.toThrow(gone);
  });
});

describe("the store's clock", () => {
  it("is the time of `uploaded`, and goes back when it is reset", async () => {
    const { bucket, control } = await startStore(temporaryFolder());
    await control.advance(week);
    const { uploaded } = await bucket.put("key", "value");
    expect(uploaded.getTime()).toBeGreaterThan(Date.now() + week - 60 * second);
    await control.resetClock();
    expect((await bucket.put("key", "value")).uploaded.getTime()).toBeLessThan(
      Date.now() + 60 * second,
    );
    expect(Math.abs((await control.now()) - Date.now())).toBeLessThan(60 * second);
  });
});
