import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { BlobDamagedError } from "../core/content.ts";
import type { ContentSlice } from "../core/operations.ts";
import { BlobFiles, copyWholeFile } from "./blob-files.ts";

/** A folder with these files. */
function folderOf(files: Record<string, Uint8Array>): string {
  const folder = mkdtempSync(join(tmpdir(), "ledge-unit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, bytes] of Object.entries(files)) {
    writeFileSync(join(folder, name), bytes);
  }
  return folder;
}

function slice(
  blob: string,
  blobSize: number,
  offset = 0,
  length = blobSize - offset,
): ContentSlice {
  return { blob, blobSize, offset, length, md5: "" };
}

/** Empty for a link that is gone: the list of open files has the file of the list itself. */
function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

async function readAll(files: BlobFiles): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  // The memory of a chunk is used again.
  for await (const chunk of files.chunks()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

describe("BlobFiles", () => {
  const first = randomBytes(3 * 1024 * 1024 + 5);
  const second = randomBytes(700);

  it("reads files, parts of files and bytes in their order", async () => {
    const folder = folderOf({ first, second });
    const bytes = new Uint8Array([1, 2, 3]);
    const slices = [slice("first", first.length), { bytes }, slice("second", 700, 100, 200)];
    const files = new BlobFiles(folder, slices);
    await files.open();
    const expected = Buffer.concat([first, bytes, second.subarray(100, 300)]);
    expect((await readAll(files)).equals(expected)).toBe(true);
  });

  it("reads the files that it has opened, even if they are removed", async () => {
    const folder = folderOf({ first, second });
    const files = new BlobFiles(folder, [slice("first", first.length), slice("second", 700)]);
    await files.open();
    for (const name of ["first", "second"]) rmSync(join(folder, name));
    expect((await readAll(files)).equals(Buffer.concat([first, second]))).toBe(true);
  });

  it.each([
    ["is missing", "none", 700],
    ["has another size", "second", 701],
  ])("refuses a file that %s", async (_, name, size) => {
    const files = new BlobFiles(folderOf({ second }), [slice(name, size)]);
    await expect(files.open()).rejects.toThrow(BlobDamagedError);
  });

  it("keeps the error of a read until a slow caller asks for the next chunk", async () => {
    const folder = folderOf({ first });
    const files = new BlobFiles(folder, [slice("first", first.length)]);
    await files.open();
    truncateSync(join(folder, "first"), 1024 * 1024);
    const chunks = files.chunks();
    await chunks.next();
    // The next read has failed long before the caller asks. An unhandled error fails the test.
    for (let turn = 0; turn < 100; turn++) await setImmediate();
    await stat(folder);
    await expect(chunks.next()).rejects.toThrow(BlobDamagedError);
  });

  it("reports a file that becomes shorter while it is read, and can be left early", async () => {
    const folder = folderOf({ first });
    const files = new BlobFiles(folder, [slice("first", first.length)]);
    await files.open();
    const chunks = files.chunks();
    await chunks.next();
    writeFileSync(join(folder, "first"), "short");
    await expect(chunks.next().then(() => chunks.next())).rejects.toThrow(BlobDamagedError);

    const left = new BlobFiles(folderOf({ first }), [slice("first", first.length)]);
    await left.open();
    for await (const chunk of left.chunks()) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    left.close();
  });

  it.runIf(process.platform === "linux")("closes the file of a body that is dropped", async () => {
    const folder = folderOf({ first });
    const isOpen = (): boolean =>
      readdirSync("/proc/self/fd").some((name) =>
        linkTarget(`/proc/self/fd/${name}`).includes(folder),
      );
    const files = new BlobFiles(folder, [slice("first", first.length)]);
    await files.open();
    await files.chunks().next();
    expect(isOpen()).toBe(true);
    // The next chunk is being read.
    files.close();
    files.close();
    await vi.waitFor(() => expect(isOpen()).toBe(false), 30_000);
  });
});

describe("copyWholeFile()", () => {
  it("copies the content of any size, and the mode", async () => {
    // Not a multiple of a piece, exactly one piece, and nothing.
    const files = { a: randomBytes(2_500_000), b: randomBytes(1024 * 1024), c: Buffer.alloc(0) };
    const folder = folderOf(files);
    for (const [name, bytes] of Object.entries(files)) {
      chmodSync(join(folder, name), 0o600);
      const copy = join(folder, `${name}-copy`);
      await copyWholeFile(join(folder, name), copy);
      expect(readFileSync(copy).equals(bytes)).toBe(true);
      expect((await stat(copy)).mode & 0o777).toBe(0o600);
    }
  });

  it("replaces no file, and says when there is no source", async () => {
    const folder = folderOf({ a: Buffer.from("a"), b: Buffer.from("b") });
    const copy = (from: string, to: string) => copyWholeFile(join(folder, from), join(folder, to));
    await expect(copy("a", "b")).rejects.toMatchObject({ code: "EEXIST" });
    await expect(copy("none", "c")).rejects.toMatchObject({ code: "ENOENT" });
    expect(readdirSync(folder)).toEqual(["a", "b"]);
    expect(readFileSync(join(folder, "b"), "utf8")).toBe("b");
  });
});
