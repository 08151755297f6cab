/** Damaged files and databases: what reads and checks notice, and that nothing is removed. */
import {
  appendFileSync,
  copyFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { bucketDatabase, checkpoint, flipBit, flipIn } from "../support/databases.ts";
import { blobFiles, startStore, temporaryFolder } from "../support/store.ts";
import { bucketEntry, worker } from "../support/worker.ts";
import { checkBucket } from "../../src/store/node/check-bucket.ts";

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

describe("verify_reads", () => {
  const verifying = [
    worker("export default {};", {
      env: { BUCKET: bucketEntry({ bucket_name: "photos", verify_reads: true }) },
    }),
  ];

  it("fails a read of a file with another content, before the first byte", async () => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder, verifying);
    await bucket.put("key", bytesOf(size));
    expect(sameBytes(await (await bucket.get("key"))?.bytes(), bytesOf(size))).toBe(true);
    flipBit(blobFiles(folder)[0] as string, size * 8 - 1);
    for (const range of [{ offset: 0 }, { offset: 1, length: 2 }, { suffix: 1 }]) {
      await expect(bucket.get("key", { range })).rejects.toThrow(
        /^get: Cannot read the content of "key": file "\S+" has the MD5 \w+, metadata says \w+\. /,
      );
    }
    await bucket.put("key", bytesOf(size, 2));
    expect(sameBytes(await (await bucket.get("key"))?.bytes(), bytesOf(size, 2))).toBe(true);
  });

  it("fails a read of a value in the database, and no other call", async () => {
    const folder = temporaryFolder();
    const store = await startStore(folder);
    await store.bucket.put("inline", bytesOf(5000));
    await store.bucket.put("other", "intact");
    const upload = await store.bucket.createMultipartUpload("joined");
    await upload.complete([await upload.uploadPart(1, bytesOf(3000, 9))]);
    await store.stop();
    checkpoint(bucketDatabase(folder));
    flipIn(bucketDatabase(folder), bytesOf(5000).subarray(0, 100));
    flipIn(bucketDatabase(folder), bytesOf(3000, 9).subarray(0, 100));
    const report = await checkBucket({
      storeFolder: join(folder, "store"),
      bucketName: "photos",
      activeRuns: () => [],
      onObject() {},
    });
    expect(report.damages.map(({ key }) => key)).toEqual(["inline", "joined"]);

    const { bucket } = await startStore(folder, verifying);
    for (const key of ["inline", "joined"]) {
      for (const range of [{ offset: 0 }, { offset: 2999 }, { suffix: 1 }]) {
        await expect(bucket.get(key, { range })).rejects.toThrow(
          new RegExp(
            `^get: Cannot read "${key}": its content in the database has the MD5 \\w+, metadata says ` +
              String.raw`\w+\. The object is damaged; put it again or delete it\. \(10001\)$`,
          ),
        );
      }
    }
    expect((await bucket.head("inline"))?.size).toBe(5000);
    expect((await bucket.list()).objects.length).toBe(3);
    expect(await (await bucket.get("other"))?.text()).toBe("intact");
    await bucket.put("inline", "again");
    expect(await (await bucket.get("inline"))?.text()).toBe("again");
  });

  it("verifies the parts that a range touches", async () => {
    const folder = temporaryFolder();
    const { bucket } = await startStore(folder, verifying);
    const upload = await bucket.createMultipartUpload("key");
    const first = await upload.uploadPart(1, bytesOf(partBytes));
    const before = new Set(blobFiles(folder));
    const second = await upload.uploadPart(2, bytesOf(partBytes, 2));
    await upload.complete([first, second]);
    flipBit(blobFiles(folder).find((file) => !before.has(file)) as string, 5);

    await expect(bucket.get("key")).rejects.toThrow(
      /^get: Cannot read the content of "key": file /,
    );
    const overBoth = { range: { offset: partBytes - 1, length: 2 } };
    await expect(bucket.get("key", overBoth)).rejects.toThrow("has the MD5");
    const intact = await bucket.get("key", { range: { offset: 0, length: partBytes } });
    expect(sameBytes(await intact?.bytes(), bytesOf(partBytes))).toBe(true);
  });
});

describe("a database that is lost", () => {
  const losses: [name: string, lose: (path: string) => void][] = [
    ["is removed", (path) => rmSync(path)],
    ["is empty", (path) => truncateSync(path, 0)],
    ["was replaced by that of an empty bucket", (path) => copyFileSync(`${path}.other`, path)],
  ];

  it.each(losses)("leaves its files in place: it %s", async (_, lose) => {
    const folder = temporaryFolder();
    const env = { OTHER: bucketEntry({ bucket_name: "other" }) };
    const first = await startStore(folder, [worker("export default {};", { env })]);
    const { OTHER } = await first.miniflare.getBindings<{ OTHER: StoreBucket }>();
    await OTHER.head("key");
    await first.bucket.put("key", bytesOf(size));
    await first.stop();
    const path = bucketDatabase(folder);
    checkpoint(path);
    checkpoint(bucketDatabase(folder, "other"));
    copyFileSync(bucketDatabase(folder, "other"), `${path}.other`);
    const backup = join(folder, "backup");
    copyFileSync(path, backup);
    lose(path);

    // Nothing is collected now, after new objects were stored, and at later starts.
    for (let start = 0; start < 3; start++) {
      const store = await startStore(folder);
      expect(await store.bucket.head("key")).toBeNull();
      expect(await store.control.collectGarbage("photos")).toBe(0);
      await store.bucket.put("new", bytesOf(size, start));
      await store.stop();
    }
    // The file of "key", and that of "new".
    expect(blobFiles(folder).length).toBe(2);

    checkpoint(path);
    renameSync(backup, path);
    const { bucket } = await startStore(folder);
    expect(sameBytes(await (await bucket.get("key"))?.bytes(), bytesOf(size))).toBe(true);
  });

  it("is not suspected after a crash in the first put", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.head("key");
    await first.stop();
    const orphan = join(folder, "store/blobs/photos", `${"0".repeat(16)}.${"1".repeat(32)}`);
    writeFileSync(orphan, "orphan");
    rmSync(bucketDatabase(folder));
    const { control } = await startStore(folder);
    await control.collectGarbage("photos");
    expect(blobFiles(folder)).toEqual([]);
  });
});

describe("a database that SQLite cannot open", () => {
  it("is named with its path, and no file is removed", async () => {
    const folder = temporaryFolder();
    const first = await startStore(folder);
    await first.bucket.put("key", bytesOf(size));
    await first.stop();
    const path = bucketDatabase(folder);
    checkpoint(path);
    writeFileSync(path, "This is not a database.".repeat(1000));

    const { bucket } = await startStore(folder);
    const message = `Cannot open the database of bucket "photos", ${path}: `;
    await expect(bucket.get("key")).rejects.toThrow(`get: ${message}`);
    await expect(bucket.list()).rejects.toThrow(`list: ${message}`);
    await expect(bucket.put("new", "value")).rejects.toThrow(`put: ${message}`);
    expect(blobFiles(folder).length).toBe(1);
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
