/**
 * The files of a drop or of a chosen folder, with their paths. Folders without files are ignored: a
 * bucket has no empty folders.
 */
export interface DroppedFile {
  /** Below what was dropped: `holiday/2026/a.jpg`. */
  readonly path: string;
  readonly file: File;
}

export interface Drop {
  readonly files: readonly DroppedFile[];
  /** Paths of files and folders that the browser may not read, or that have gone. */
  readonly unreadable: readonly string[];
}

/** The parts of a `FileSystemEntry` that are used. */
export interface DroppedEntry {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  readonly fullPath: string;
}

interface FileEntry extends DroppedEntry {
  file(found: (file: File) => void, failed: (error: unknown) => void): void;
}

interface FolderEntry extends DroppedEntry {
  createReader(): {
    readEntries(
      found: (entries: readonly DroppedEntry[]) => void,
      failed: (error: unknown) => void,
    ): void;
  };
}

/**
 * Must be called while the event is handled, because the browser empties the list afterwards. Items
 * that are not files, such as text, are ignored.
 */
export function droppedEntries(items: Iterable<DataTransferItem>): DroppedEntry[] {
  return Array.from(items)
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry() ?? entryOf(item.getAsFile()))
    .filter((entry) => entry !== null);
}

/** A file that is not on a disk, such as an attachment of a mail, has no entry. */
function entryOf(file: File | null): DroppedEntry | null {
  if (file === null) return null;
  const entry: FileEntry = {
    isFile: true,
    isDirectory: false,
    fullPath: file.name,
    file: (found) => found(file),
  };
  return entry;
}

export async function readEntries(entries: readonly DroppedEntry[]): Promise<Drop> {
  const files: DroppedFile[] = [];
  const unreadable: string[] = [];
  const waiting = entries.toReversed();
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    try {
      if (entry.isDirectory) {
        const inside = await readFolder(entry as FolderEntry);
        for (const each of inside.toReversed()) waiting.push(each);
      } else if (entry.isFile) {
        files.push({ path: entry.fullPath, file: await readFile(entry as FileEntry) });
      }
    } catch {
      unreadable.push(entry.fullPath);
    }
  }
  return { files, unreadable };
}

function readFile(entry: FileEntry): Promise<File> {
  return new Promise((found, failed) => {
    entry.file(found, failed);
  });
}

/** A reader returns a hundred entries at a time, and then none. */
async function readFolder(folder: FolderEntry): Promise<DroppedEntry[]> {
  const reader = folder.createReader();
  const all: DroppedEntry[] = [];
  for (;;) {
    const some = await new Promise<readonly DroppedEntry[]>((found, failed) => {
      reader.readEntries(found, failed);
    });
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** The files of an `<input type="file">`; with `webkitdirectory` they have a relative path. */
export function chosenFiles(files: Iterable<File>): DroppedFile[] {
  return Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));
}
