/**
 * The files of a drop, with their paths below what was dropped. Folders without files are ignored: a
 * bucket has no empty folders.
 */
export interface ChosenFile {
  /** `/holiday/2026/a.jpg` */
  readonly path: string;
  readonly file: File;
}

/**
 * Must be called while the event is handled, because the browser empties the list afterwards. Items
 * that are not files, such as text, are ignored. A file that is not on a disk, such as an attachment of a
 * mail, has no entry.
 */
export function droppedEntries(items: Iterable<DataTransferItem>): (FileSystemEntry | File)[] {
  return Array.from(items)
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile())
    .filter((entry) => entry !== null);
}

export async function readEntries(entries: readonly (FileSystemEntry | File)[]) {
  const files: ChosenFile[] = [];
  /** Paths of files and folders that the browser may not read, or that have gone. */
  const unreadable: string[] = [];
  const read = async (entry: FileSystemEntry | File): Promise<void> => {
    if (entry instanceof File) {
      files.push({ path: entry.name, file: entry });
      return;
    }
    try {
      if (entry.isDirectory) {
        for (const inside of await readFolder(entry as FileSystemDirectoryEntry))
          await read(inside);
      } else {
        const file = await new Promise<File>((found, failed) => {
          (entry as FileSystemFileEntry).file(found, failed);
        });
        files.push({ path: entry.fullPath, file });
      }
    } catch {
      unreadable.push(entry.fullPath);
    }
  };
  for (const entry of entries) await read(entry);
  return { files, unreadable };
}

/** A reader returns a hundred entries at a time, and then none. */
async function readFolder(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<readonly FileSystemEntry[]>((found, failed) => {
      reader.readEntries(found, failed);
    });
    if (some.length === 0) return all;
    all.push(...some);
  }
}
