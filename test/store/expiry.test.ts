/** The store aborts a multipart upload seven days after its creation. */
import { describe, expect, it, vi } from "vitest";
import { bytesOf } from "../support/bytes.ts";
import {
  blobFiles,
  shareStore,
  startStore,
  temporaryFolder,
  type Store,
} from "../support/store.ts";
import { letTimePass } from "../support/databases.ts";

const second = 1000;
const minute = 60 * second;
const week = 7 * 24 * 60 * 60 * second;
const noSuchUpload = /The specified multipart upload does not exist\. \(10024\)$/;
const large = bytesOf(200_000);

async function startUpload({ bucket }: Pick<Store, "bucket">) {
  const upload = await bucket.createMultipartUpload("key");
  const part = await upload.uploadPart(1, large);
  return { upload, part };
}

const sharedStore = shareStore();

describe("a multipart upload", () => {
  it("is aborted after seven days and a second, and its parts are removed", async () => {
    const store = sharedStore();
    const { folder } = store;
    const { upload, part } = await startUpload(store);
    expect(blobFiles(folder)).toHaveLength(1);

    await store.control.advance(week + second);

    expect(blobFiles(folder)).toEqual([]);
    await expect(upload.uploadPart(2, "x")).rejects.toThrow(noSuchUpload);
    await expect(upload.complete([part])).rejects.toThrow(noSuchUpload);
    // The upload is aborted already, and a second abort is no error.
    await expect(upload.abort()).resolves.toBeUndefined();
  });

  it("is aborted on access, before the alarm", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    const { upload } = await startUpload(first);
    await first.stop();
    letTimePass(folder, week + second);

    const { bucket } = await startStore(folder);
    const resumed = bucket.resumeMultipartUpload(upload.key, upload.uploadId);
    await expect(resumed.uploadPart(2, "x")).rejects.toThrow(noSuchUpload);
    expect(blobFiles(folder)).toEqual([]);
  });

  it("is aborted at the next start when it expired while no runtime ran", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await startUpload(first);
    await first.stop();
    letTimePass(folder, week + second);

    // No call reaches the bucket: the overdue alarm runs.
    await startStore(folder);
    await vi.waitFor(() => expect(blobFiles(folder)).toEqual([]), { timeout: 60_000 });
  });

  it("is deleted seven days after its end", async () => {
    const { bucket, control } = sharedStore();
    const upload = await bucket.createMultipartUpload("key");
    await upload.abort();
    await control.advance(week - minute);
    await expect(upload.abort()).resolves.toBeUndefined();
    await control.advance(2 * minute);
    await expect(upload.abort()).rejects.toThrow(noSuchUpload);
  });
});
