import { describe, expect, it } from "vitest";
import { droppedEntries, readEntries } from "./upload-files.ts";

function fileEntry(fullPath: string): FileSystemEntry {
  const file = (found: (file: File) => void): void => found(new File([fullPath], "name"));
  return { isDirectory: false, fullPath, file } as unknown as FileSystemEntry;
}

/** Like a browser, the reader returns a part of the entries with each call, and then none. */
function folderEntry(fullPath: string, entries: readonly FileSystemEntry[]): FileSystemEntry {
  const createReader = () => {
    let next = 0;
    return {
      readEntries: (found: (entries: readonly FileSystemEntry[]) => void) => {
        found(entries.slice(next, (next += 100)));
      },
    };
  };
  return { isDirectory: true, fullPath, createReader } as unknown as FileSystemEntry;
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
    const broken = Object.assign(fileEntry("/x"), {
      file: (_found: unknown, failed: (error: Error) => void) => failed(new Error("not readable")),
    });
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
