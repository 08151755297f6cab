/**
 * What is state in the folder of Miniflare (`v3`), by relative path with `/`:
 *
 *     KIND/…/ID.sqlite            a database, with its log; `metadata.sqlite` has the alarms
 *     KIND/NAME/blobs/ID          a value, which never changes: KV, R2, caches
 *     store/blobs/BUCKET/ID       the same of a bucket
 *     other files                 copied like databases
 *
 * Folders of kinds that a later Miniflare has count too. Of the store and of DNS, only the databases, the
 * values and the format count: locks, runs, sockets and reserves are those of processes. A mark of the files of
 * a bucket (`store/bucket/garbage-collector.ts`) follows from the database, and the bucket writes it again.
 */
import { readdirSync, type Dirent } from "node:fs";
import { join } from "node:path";
import { isBlobName, isDatabaseMark } from "../store/core/content.ts";

export interface StateFiles {
  /** Databases, and files that are copied in the same way. */
  readonly databases: readonly string[];
  readonly values: ReadonlySet<string>;
  /** The marks of buckets, which are removed when the databases are replaced. */
  readonly marks: readonly string[];
}

/** Kinds that tell of processes, secrets of the machine, or what was observed. */
const notState = new Set(["explorer", "edge", "s3", "observability", "ledge-saved"]);
const partsOfPlugin = new Map<string, readonly string[]>([
  ["store", ["databases", "blobs"]],
  ["dns", ["do", "format"]],
]);
/** Logs and indexes, also of a database that was set aside. */
const besideDatabase = /\.sqlite-/;
/** The spare files for a full device (`state/folder.ts`). */
const reserve = /^reserve/;

/** Whether a file of databases or values is a part of the state. */
export function isState(path: string): boolean {
  const [kind = "", part = ""] = path.split("/");
  return !notState.has(kind) && partsOfPlugin.get(kind)?.includes(part) !== false;
}

export function isDatabase(path: string): boolean {
  return path.endsWith(".sqlite");
}

export function isBucketValue(path: string): boolean {
  return path.startsWith("store/blobs/");
}

export function isBucketDatabase(path: string): boolean {
  return path.startsWith("store/databases/") && isDatabase(path) && !isAlarms(path);
}

/** The database of the alarms, which a runtime has open as long as it lives. */
export function isAlarms(path: string): boolean {
  return path.endsWith("/metadata.sqlite");
}

export function isOfStore(path: string): boolean {
  return path.startsWith("store/");
}

export function isDns(path: string): boolean {
  return path.startsWith("dns/");
}

/**
 * @param persistPath need not exist
 * @param options hasValues: `false` leaves the values out, of which there can be many
 */
export function readStateFiles(
  persistPath: string,
  { hasValues = true }: { readonly hasValues?: boolean } = {},
): StateFiles {
  const found = { databases: [] as string[], values: new Set<string>(), marks: [] as string[] };
  for (const entry of entriesOf(persistPath)) {
    const kind = entry.name;
    if (!entry.isDirectory() || notState.has(kind)) continue;
    const parts = partsOfPlugin.get(kind);
    addFolder(kind, (name) => parts === undefined || parts.includes(name));
  }
  return found;

  function addFolder(folder: string, isWanted: (name: string) => boolean): void {
    if (isValueFolder(folder)) {
      if (!hasValues) return;
      for (const name of namesIn(join(persistPath, folder))) addValue(folder, name);
      return;
    }
    for (const entry of entriesOf(join(persistPath, folder))) {
      const { name } = entry;
      if (!isWanted(name) || reserve.test(name)) continue;
      if (entry.isDirectory()) addFolder(`${folder}/${name}`, () => true);
      else if (entry.isFile() && !besideDatabase.test(name))
        found.databases.push(`${folder}/${name}`);
    }
  }

  function addValue(folder: string, name: string): void {
    const path = `${folder}/${name}`;
    if (!isBucketValue(path)) {
      // A value that is being written has a name that starts with a dot.
      if (!name.startsWith(".")) found.values.add(path);
    } else if (isBlobName(name)) found.values.add(path);
    else if (isDatabaseMark(name)) found.marks.push(path);
  }
}

/** A folder that has nothing but values: their types are not asked for, because there can be many. */
function isValueFolder(folder: string): boolean {
  const [kind = "", , last, ...deeper] = folder.split("/");
  if (partsOfPlugin.has(kind)) return isBucketValue(folder) && deeper.length === 0;
  return last !== undefined && folder.endsWith("/blobs");
}

function entriesOf(folder: string): Dirent[] {
  return existing(() => readdirSync(folder, { withFileTypes: true }));
}

function namesIn(folder: string): string[] {
  return existing(() => readdirSync(folder));
}

/** Nothing of a folder that an object or a bucket has removed meanwhile. */
function existing<Entry>(read: () => Entry[]): Entry[] {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(String((error as NodeJS.ErrnoException).code))) return [];
    throw error;
  }
}
