/** Blob files that do not match the database: reads fail, and never return wrong bytes. */
import { appendFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";

const size = 200_000;
const partBytes = 5 * 1024 * 1024;

const damages: [name: string, damage: (file: string) => void, message: string][] = [
  ["missing", (file) => rmSync(file), "is missing, metadata says 200000 bytes"],
  ["short", (file) => truncateSync(file, 3), "is 3 bytes, metadata says 200000"],
  ["empty", (file) => truncateSync(file, 0), "is 0 bytes, metadata says 200000"],
  ["long", (file) => appendFileSync(file, "x"), "is 200001 bytes, metadata says 200000"],
];

describe("get() of an object whose file is damaged", () => {
  it.each(damages)("reports a file that is %s", async (_, damage, message) => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder);
    await bucket.put("key", bytesOf(size));
    damage(blobFiles(folder)[0] as string);

    for (const range of [{ offset: 0 }, { offset: 1, length: 2 }, { suffix: 1 }]) {
      const reading = bucket.get("key", { range });
      await expect(reading).rejects.toThrow(/^get: Cannot read the content of "key": file /);
      await expect(bucket.get("key", { range })).rejects.toThrow(message);
    }
    // The metadata is intact, and another put repairs the object.
    expect((await bucket.head("key"))?.size).toBe(size);
    await bucket.put("key", bytesOf(size, 2));
    expect(sameBytes(await (await bucket.get("key"))?.bytes(), bytesOf(size, 2))).toBe(true);
  });

  it("reports a later part that is short, before the first byte", async () => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder);
    const upload = await bucket.createMultipartUpload("key");
    const before = new Set(blobFiles(folder));
    const first = await upload.uploadPart(1, bytesOf(partBytes));
    const afterFirst = new Set(blobFiles(folder));
    const second = await upload.uploadPart(2, bytesOf(partBytes, 2));
    await upload.complete([first, second]);
    expect(before.size).toBe(0);
    const secondFile = blobFiles(folder).find((file) => !afterFirst.has(file)) as string;
    truncateSync(secondFile, partBytes - 1);

    await expect(bucket.get("key")).rejects.toThrow(
      `is ${partBytes - 1} bytes, metadata says ${partBytes}`,
    );
    // The intact part can still be read.
    const intact = await bucket.get("key", { range: { offset: 0, length: partBytes } });
    expect(sameBytes(await intact?.bytes(), bytesOf(partBytes))).toBe(true);
  });
});

describe("files of other programs", () => {
  it("stay when the store removes unused files", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("key", bytesOf(size));
    await first.stop();
    const foreign = `${blobFiles(folder)[0] as string}.notes.txt`;
    writeFileSync(foreign, "mine");

    const { bucket, control } = await startStore(folder);
    expect(await control.collectGarbage("photos")).toBe(0);
    expect(blobFiles(folder)).toContain(foreign);
    expect((await bucket.head("key"))?.size).toBe(size);
  });
});
