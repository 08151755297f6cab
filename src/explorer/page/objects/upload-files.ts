/**
 * The files of a drop or of a chosen folder: their paths, their keys and their content types. Folders
 * without files are ignored: a bucket has no empty folders.
 */
export interface ChosenFile {
  /** Below what was dropped: `holiday/2026/a.jpg`. */
  readonly path: string;
  readonly file: File;
}

export interface Drop {
  readonly files: readonly ChosenFile[];
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
  const files: ChosenFile[] = [];
  const unreadable: string[] = [];
  const waiting = entries.toReversed();
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    try {
      if (entry.isDirectory) {
        const inside = await readFolder(entry as FolderEntry);
        for (const each of inside.toReversed()) waiting.push(each);
      } else if (entry.isFile) {
        const { promise, resolve, reject } = Promise.withResolvers<File>();
        (entry as FileEntry).file(resolve, reject);
        files.push({ path: entry.fullPath, file: await promise });
      }
    } catch {
      unreadable.push(entry.fullPath);
    }
  }
  return { files, unreadable };
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
export function chosenFiles(files: Iterable<File>): ChosenFile[] {
  return Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/**
 * The key of a file that a person drops or chooses. The path of the file below the dropped folder is
 * kept as it is: a key may have `..` and spaces, and a browser that sends the key in a query does not
 * change them.
 */
export function droppedKey(prefix: string, path: string): string {
  return prefix + path.replace(/^\/+/, "");
}

/**
 * A second name: `photo (2).jpg` for `photo.jpg`. A name that begins with its only dot has no
 * extension.
 */
export function numberedKey(key: string, number: number): string {
  const dot = key.lastIndexOf(".");
  const end = dot > key.lastIndexOf("/") + 1 ? dot : key.length;
  return `${key.slice(0, end)} (${number})${key.slice(end)}`;
}

/** Types that browsers give no name to, or not on every system. */
const typesByExtension: Readonly<Record<string, string>> = {
  avif: "image/avif",
  csv: "text/csv",
  flac: "audio/flac",
  gz: "application/gzip",
  ics: "text/calendar",
  jsonc: "application/json",
  jsonl: "application/jsonl",
  log: "text/plain",
  map: "application/json",
  md: "text/markdown",
  mkv: "video/x-matroska",
  mjs: "text/javascript",
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
  sh: "application/x-sh",
  sql: "application/sql",
  tar: "application/x-tar",
  toml: "application/toml",
  // Chromium takes the source of a program for a video.
  ts: "text/plain",
  tsx: "text/plain",
  wasm: "application/wasm",
  webmanifest: "application/manifest+json",
  webp: "image/webp",
  woff2: "font/woff2",
  yaml: "application/yaml",
  yml: "application/yaml",
  zst: "application/zstd",
};

/**
 * What the browser knows, or the type of the extension.
 *
 * @returns `undefined` when neither tells: the object then has no type
 */
export function contentTypeOf({ name, type }: Pick<File, "name" | "type">): string | undefined {
  const extension = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  if (type !== "" && type !== "video/mp2t") return type;
  return Object.hasOwn(typesByExtension, extension) ? typesByExtension[extension] : undefined;
}
