/** Isolation layers, opened and closed through the control binding. */
import { describe, expect, it } from "vitest";
import { sameBytes } from "../support/bytes.ts";
import {
  blobFiles,
  shareStore,
  startStore,
  temporaryFolder,
  type Store,
} from "../support/store.ts";

const large = new Uint8Array(300_000).fill(7);

async function keys({ bucket }: Pick<Store, "bucket">): Promise<string[]> {
  return (await bucket.list()).objects.map(({ key }) => key);
}

async function text({ bucket }: Pick<Store, "bucket">, key: string): Promise<string | undefined> {
  return (await bucket.get(key))?.text();
}

describe("closeLayer()", () => {
  const sharedStore = shareStore();

  it("undoes added, replaced and deleted objects", async () => {
    const store = sharedStore();
    await store.bucket.put("kept", "one");
    await store.bucket.put("replaced", "one");
    await store.bucket.put("deleted", "one");
    await store.control.openLayer(1);
    await store.bucket.put("added", "two");
    await store.bucket.put("replaced", "two");
    await store.bucket.put("replaced", "three");
    await store.bucket.delete(["deleted", "added"]);
    await store.bucket.put("added", "two");
    await store.control.closeLayer(1);
    expect(await keys(store)).toEqual(["deleted", "kept", "replaced"]);
    expect(await text(store, "replaced")).toBe("one");
    expect(await text(store, "deleted")).toBe("one");
  });

  it("keeps the writes of an outer layer", async () => {
    const store = sharedStore();
    await store.control.openLayer(1);
    await store.bucket.put("a", "outer");
    await store.control.openLayer(2);
    await store.bucket.put("a", "inner");
    await store.bucket.put("b", "inner");
    await store.control.closeLayer(2);
    expect(await keys(store)).toEqual(["a"]);
    expect(await text(store, "a")).toBe("outer");
    await store.control.openLayer(3);
    await store.bucket.delete("a");
    await store.control.closeLayer(1);
    expect(await keys(store)).toEqual([]);
  });

  it("restores replaced files, and removes written files", async () => {
    const store = sharedStore();
    const { folder } = store;
    await store.bucket.put("file", large);
    const [before] = blobFiles(folder);
    await store.control.openLayer(1);
    await store.bucket.put(
      "file",
      large.map(() => 8),
    );
    await store.bucket.put("other", large);
    await store.bucket.delete("file");
    expect(blobFiles(folder)).toHaveLength(2);
    await store.control.closeLayer(1);
    expect(blobFiles(folder)).toEqual([before]);
    expect(sameBytes(await (await store.bucket.get("file"))?.bytes(), large)).toBe(true);
  });

  it("undoes new uploads, and restores completed uploads", async () => {
    const store = sharedStore();
    const { folder } = store;
    const upload = await store.bucket.createMultipartUpload("assembled");
    const part = await upload.uploadPart(1, large);
    await store.control.openLayer(1);
    const other = await store.bucket.createMultipartUpload("other");
    await other.uploadPart(1, large);
    await upload.complete([part]);
    await store.control.closeLayer(1);
    expect(blobFiles(folder)).toHaveLength(1);
    await expect(other.uploadPart(2, "x")).rejects.toThrow("(10024)");
    expect((await upload.complete([part])).size).toBe(large.length);
  });

  it("resets the clock, and undoes the expiry that it caused", async () => {
    const store = sharedStore();
    const upload = await store.bucket.createMultipartUpload("assembled");
    await store.control.openLayer(1);
    await store.control.advance(8 * 86_400_000);
    await expect(upload.uploadPart(1, "x")).rejects.toThrow("(10024)");
    await store.control.closeLayer(1);
    expect(Math.abs((await store.control.now()) - Date.now())).toBeLessThan(86_400_000);
    expect((await upload.uploadPart(1, "x")).partNumber).toBe(1);
  });
});

describe("a runtime that ends in the middle of a test", () => {
  it("leaves the objects from before the test", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("kept", large);
    await first.control.openLayer(1);
    await first.bucket.put("kept", "overwritten");
    await first.bucket.put("added", "x");
    await first.stop();
    const second = await startStore(folder);
    expect(await keys(second)).toEqual(["kept"]);
    expect(sameBytes(await (await second.bucket.get("kept"))?.bytes(), large)).toBe(true);
  });
});
