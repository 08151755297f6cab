import { describe, expect, it } from "vitest";
import { droppedEntries, readEntries } from "./upload-files.ts";

function fileEntry(fullPath: string): FileSystemEntry {
  const file = (found: (file: File) => void): void => found(new File([fullPath], "name"));
  return { isDirectory: false, fullPath, file } as unknown as FileSystemEntry;
}

describe("readEntries()", () => {
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
