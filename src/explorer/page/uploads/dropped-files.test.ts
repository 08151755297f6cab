import { describe, expect, it } from "vitest";
import { droppedEntries, readEntries, type DroppedEntry } from "./dropped-files.ts";

function fileEntry(fullPath: string): DroppedEntry {
  const file = new File([fullPath], fullPath.split("/").at(-1) as string);
  return {
    isFile: true,
    isDirectory: false,
    fullPath,
    file: (found: (file: File) => void) => found(file),
  } as DroppedEntry;
}

/** Like a browser, the reader returns a part of the entries with each call, and then none. */
function folderEntry(fullPath: string, entries: readonly DroppedEntry[], some = 100): DroppedEntry {
  const createReader = () => {
    let next = 0;
    return {
      readEntries: (found: (entries: readonly DroppedEntry[]) => void) => {
        found(entries.slice(next, (next += some)));
      },
    };
  };
  return { isFile: false, isDirectory: true, fullPath, createReader } as DroppedEntry;
}

describe("readEntries()", () => {
  it("reads folders in folders, in their order, and ignores empty folders", async () => {
    const { files } = await readEntries([
      folderEntry("/a", [
        fileEntry("/a/1"),
        folderEntry("/a/empty", []),
        folderEntry("/a/b", [fileEntry("/a/b/2")]),
        fileEntry("/a/3"),
      ]),
      fileEntry("/4"),
    ]);
    expect(files.map(({ path }) => path)).toEqual(["/a/1", "/a/b/2", "/a/3", "/4"]);
  });

  it("reads all entries of a large folder", async () => {
    const many = Array.from({ length: 250 }, (_, index) => fileEntry(`/many/${index}`));
    const { files } = await readEntries([folderEntry("/many", many)]);
    expect(files).toHaveLength(250);
  });

  it("names a file that cannot be read, and reads the others", async () => {
    const broken = {
      isFile: true,
      isDirectory: false,
      fullPath: "/x",
      file: (_found: unknown, failed: (error: Error) => void) => failed(new Error("not readable")),
    } as DroppedEntry;
    const { files, unreadable } = await readEntries([broken, fileEntry("/y")]);
    expect(unreadable).toEqual(["/x"]);
    expect(files.map(({ path }) => path)).toEqual(["/y"]);
  });
});

describe("droppedEntries()", () => {
  it("takes files that are not on a disk, and no text", async () => {
    const file = new File(["x"], "mail.txt");
    const items = [
      { kind: "string", webkitGetAsEntry: () => null, getAsFile: () => null },
      { kind: "file", webkitGetAsEntry: () => null, getAsFile: () => file },
      { kind: "file", webkitGetAsEntry: () => fileEntry("/a"), getAsFile: () => null },
    ] as unknown as DataTransferItem[];
    const { files } = await readEntries(droppedEntries(items));
    expect(files.map(({ path }) => path)).toEqual(["mail.txt", "/a"]);
    expect(files[0]?.file).toBe(file);
  });
});
