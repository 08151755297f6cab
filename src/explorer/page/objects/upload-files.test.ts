import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  contentTypeOf,
  droppedEntries,
  droppedKey,
  numberedKey,
  readEntries,
  type DroppedEntry,
} from "./upload-files.ts";

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

describe("droppedKey()", () => {
  it("appends the path to the prefix without a leading slash", () => {
    expect(droppedKey("photos/", "/2026/a.jpg")).toBe("photos/2026/a.jpg");
    expect(droppedKey("", "/a.jpg")).toBe("a.jpg");
  });

  it("keeps a name as it is typed", () => {
    expect(droppedKey("", "../a b?#%2F.txt")).toBe("../a b?#%2F.txt");
    expect(droppedKey("p/", "..")).toBe("p/..");
  });
});

describe("numberedKey()", () => {
  it("puts the number before the extension", () => {
    expect(numberedKey("a/photo.jpg", 2)).toBe("a/photo (2).jpg");
    expect(numberedKey("archive.tar.gz", 3)).toBe("archive.tar (3).gz");
  });

  it("puts the number at the end of a name without an extension", () => {
    expect(numberedKey("a.b/README", 2)).toBe("a.b/README (2)");
    expect(numberedKey("folder/.gitignore", 2)).toBe("folder/.gitignore (2)");
  });

  it("gives a different key for each number, in the same folder", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 2, max: 99 }), (key, number) => {
        const second = numberedKey(key, number);
        expect(second).not.toBe(numberedKey(key, number + 1));
        expect(second.split("/").slice(0, -1)).toEqual(key.split("/").slice(0, -1));
        expect(second.replace(` (${number})`, "")).toHaveLength(key.length);
      }),
    );
  });
});

describe("contentTypeOf()", () => {
  it("is the type that the browser knows", () => {
    expect(contentTypeOf({ name: "a.md", type: "image/png" })).toBe("image/png");
  });

  it("is the type of the extension where the browser knows none", () => {
    expect(contentTypeOf({ name: "notes.MD", type: "" })).toBe("text/markdown");
    expect(contentTypeOf({ name: "archive.tar.gz", type: "" })).toBe("application/gzip");
  });

  it("does not take the source of a program for a video", () => {
    expect(contentTypeOf({ name: "index.ts", type: "video/mp2t" })).toBe("text/plain");
  });

  it("is undefined for an unknown extension, and for names of an object's properties", () => {
    expect(contentTypeOf({ name: "data.bin9", type: "" })).toBeUndefined();
    expect(contentTypeOf({ name: "a.constructor", type: "" })).toBeUndefined();
    expect(contentTypeOf({ name: "Makefile", type: "" })).toBeUndefined();
  });
});
