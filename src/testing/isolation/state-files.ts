/**
 * The files in which a runtime keeps the state of KV, D1, R2, caches and Durable Objects, and their
 * isolation layers (`testing/isolation-layers.ts`).
 *
 * A layer knows all files as they were when it was opened. What has changed since is restored when
 * the layer is closed; files that are the same cost a look at their size and time. Layers share what
 * they know: only files that changed since the layer below are saved again.
 *
 *     folder/OBJECTS/ID.sqlite   a database: `saved-database.ts`
 *     folder/NAME/blobs/ID       a value of KV, R2 or a cache, which never changes
 *     folder/OBJECTS/metadata.sqlite   the alarms, which the runtime has open all the time
 *
 * Files are restored while the runtime has no database open, so opening and closing a layer has two
 * steps. `open` and `close` say whether the runtime has to abort its objects. If so, the runtime
 * aborts them and `finish` does the rest.
 *
 * Objects are also aborted to end their state in memory. A database of an object has an index while
 * the object lives, and `finish` removes the index.
 */
import { readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { basename, join } from "node:path";
import { removeSocket, socketPath } from "../../state/sockets.ts";
import { DatabaseFiles, fileState, linkFile } from "../../state/database-files.ts";
import { asideEnding } from "../../state/disk.ts";
import { SavedDatabase, SaveFolder } from "./saved-database.ts";

interface Layer {
  readonly layer: number;
  readonly folders: readonly SavedFolder[];
}

/** A step of which the first half is done. */
interface Pending {
  readonly restored: Layer | null;
  readonly opened: number | undefined;
  readonly abortsLeft: number;
}

/** A script that never stops to call begins its objects anew for ever. */
const abortsMax = 5;

export interface StateFolder {
  readonly name: string;
  /** Whether its databases are those of objects with state in memory. */
  readonly hasObjects: boolean;
}

/**
 * The kinds of state that tests can isolate beside buckets and DNS, by the names of the option `isolate`:
 * where Miniflare keeps each kind. Not workflows: the runtime does not abort their objects, and files of an object that is alive cannot be restored.
 */
export const stateFolders = {
  kv: { name: "kv", hasObjects: false },
  d1: { name: "d1", hasObjects: false },
  r2: { name: "r2", hasObjects: false },
  cache: { name: "cache", hasObjects: false },
  durable_objects: { name: "do", hasObjects: true },
  secrets_store: { name: "secrets-store", hasObjects: false },
  ratelimits: { name: "ratelimit", hasObjects: false },
  images: { name: "images", hasObjects: false },
  stream: { name: "stream", hasObjects: false },
} satisfies Record<string, StateFolder>;

export type StateKind = keyof typeof stateFolders;

export const stateKinds = Object.keys(stateFolders) as StateKind[];

export class StateFiles {
  readonly #path: string;
  readonly #saves: SaveFolder;
  readonly #folders: readonly StateFolder[];
  #layers: Layer[] = [];
  #pending: Pending | null = null;

  /** @param path the folder of the runtime's state */
  constructor(path: string, folders: readonly StateFolder[]) {
    this.#path = path;
    this.#folders = folders;
    this.#saves = new SaveFolder(join(path, "ledge-saved"));
  }

  /** Opens a layer above all others. Returns whether the objects must be aborted first. */
  open(layer: number): boolean {
    return this.#begin(null, layer);
  }

  /**
   * Undoes what was written since a layer was opened, and removes it and the layers above.
   *
   * @param opened a layer to open in its place
   * @returns whether the objects must be aborted first
   */
  close(layer: number, opened?: number): boolean {
    const restored = this.#layers.find((each) => each.layer >= layer) ?? null;
    return this.#begin(restored, opened);
  }

  /**
   * The second step, after the runtime has aborted its objects. Returns whether the objects must be
   * aborted again, because late calls have begun some anew.
   */
  finish(): boolean {
    if (this.#pending === null) throw new Error("No step has begun that could be finished.");
    const { restored, opened, abortsLeft } = this.#pending;
    const found = this.#look();
    const databases = found.flatMap((folder) => [...folder.databases.values()]);
    const begun = databases.filter((files) => files.bringBack() || files.isOpen);
    if (begun.length > 0 && abortsLeft > 0) {
      for (const files of begun) if (files.isOpen) files.setAside();
      this.#pending = { restored, opened, abortsLeft: abortsLeft - 1 };
      return true;
    }
    this.#pending = null;
    if (restored !== null) {
      for (const [index, folder] of restored.folders.entries()) {
        folder.restore(found[index] as FoundFolder);
      }
    }
    this.#end(restored, opened);
    return false;
  }

  #begin(restored: Layer | null, opened: number | undefined): boolean {
    const found = this.#look();
    const mustAbort = found.some(
      (folder, index) =>
        folder.hasObjects || restored?.folders[index]?.isUnchanged(folder) === false,
    );
    if (!mustAbort) {
      this.#end(restored, opened);
      return false;
    }
    for (const { databases } of found) {
      for (const files of databases.values()) if (files.isOpen) files.setAside();
    }
    this.#pending = { restored, opened, abortsLeft: abortsMax };
    return true;
  }

  #end(restored: Layer | null, opened: number | undefined): void {
    if (restored !== null) this.#layers = this.#layers.slice(0, this.#layers.indexOf(restored));
    if (opened !== undefined) {
      this.#layers.push({ layer: opened, folders: restored?.folders ?? this.#save() });
    } else {
      const folders = this.#layers.flatMap((layer) => layer.folders);
      this.#saves.keep(new Set(folders.flatMap((folder) => folder.copies)));
    }
  }

  #save(): SavedFolder[] {
    const before = this.#layers.at(-1)?.folders;
    return this.#look().map((found, index) => new SavedFolder(found, this.#saves, before?.[index]));
  }

  #look(): FoundFolder[] {
    return this.#folders.map((folder) => new FoundFolder(this.#path, folder));
  }
}

const alarmsName = "metadata.sqlite";

/** The folder of one kind of state, as it is now. */
class FoundFolder {
  /** By path. */
  readonly databases = new Map<string, DatabaseFiles>();
  readonly #blobFolders: string[] = [];
  readonly #keepsObjects: boolean;

  constructor(state: string, { name, hasObjects }: StateFolder) {
    this.#keepsObjects = hasObjects;
    for (const folder of foldersIn(join(state, name))) {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) this.#blobFolders.push(path);
        else this.#add(path);
      }
    }
  }

  /** Whether an object with state in memory is alive. */
  get hasObjects(): boolean {
    return this.#keepsObjects && [...this.databases.values()].some((files) => files.isOpen);
  }

  /** A value is a file, and a file of many values takes long to list: only listed when needed. */
  blobs(): string[] {
    return this.#blobFolders.flatMap((folder) =>
      readdirSync(folder).map((name) => join(folder, name)),
    );
  }

  #add(path: string): void {
    const databasePath = path.endsWith(asideEnding) ? path.slice(0, -asideEnding.length) : path;
    if (!databasePath.endsWith(".sqlite") || basename(databasePath) === alarmsName) return;
    this.databases.set(databasePath, new DatabaseFiles(databasePath));
  }
}

/** The folder of one kind of state, as it was when it was saved. */
class SavedFolder {
  readonly #databases: ReadonlyMap<string, SavedDatabase>;
  /** The copies, by path. */
  readonly #blobs: ReadonlyMap<string, string>;

  constructor(found: FoundFolder, folder: SaveFolder, before: SavedFolder | undefined) {
    if (before?.isUnchanged(found)) {
      this.#databases = before.#databases;
      this.#blobs = before.#blobs;
      return;
    }
    this.#databases = new Map(
      Array.from(found.databases, ([path, files]) => {
        const saved = before && before.#databases.get(path);
        return [path, saved?.isUnchanged ? saved : new SavedDatabase(files, folder, saved)];
      }),
    );
    this.#blobs = new Map(
      found.blobs().map((path) => [path, (before && before.#blobs.get(path)) ?? folder.link(path)]),
    );
  }

  get copies(): string[] {
    const ofDatabases = [...this.#databases.values()].flatMap((saved) => saved.copies);
    return [...ofDatabases, ...this.#blobs.values()];
  }

  /** By the databases: a value is written and removed together with a row. */
  isUnchanged({ databases }: FoundFolder): boolean {
    if (databases.size !== this.#databases.size) return false;
    return [...this.#databases].every(([path, saved]) => databases.has(path) && saved.isUnchanged);
  }

  restore(found: FoundFolder): void {
    if (this.isUnchanged(found)) return;
    for (const [path, files] of found.databases) if (!this.#databases.has(path)) files.remove();
    for (const saved of this.#databases.values()) saved.restore();
    const blobs = new Set(found.blobs());
    for (const path of blobs) if (!this.#blobs.has(path)) rmSync(path, { force: true });
    for (const [path, copy] of this.#blobs) {
      if (!blobs.has(path)) linkFile(copy, path);
    }
  }
}

function foldersIn(path: string): string[] {
  if (fileState(path) === null) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, name));
}

/**
 * Serves the files of one runtime to the test runner inside the runtime (`StateControl`),
 * at a Unix socket. Each answer says whether the runtime has to abort its objects.
 *
 *     POST /open?layer=1            StateFiles.open
 *     POST /close?layer=1&next=2    StateFiles.close
 *     POST /finish                  StateFiles.finish
 *
 * @param folder the folder of the runtime's state, which exists
 */
export async function serveState(
  folder: string,
  files: StateFiles,
): Promise<{ readonly path: string; close(): void }> {
  const path = socketPath(folder, "state");
  // The runtime keeps its connection for the next test, which may come much later.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    try {
      response.end(String(answer(files, new URL(request.url ?? "", "http://state"))));
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
  removeSocket(path);
  await once(server.listen(path), "listening");
  // The process may end before its runtime.
  server.unref();
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { path, close };
}

function answer(files: StateFiles, { pathname, searchParams }: URL): boolean {
  const layer = Number(searchParams.get("layer"));
  const next = searchParams.get("next");
  switch (pathname) {
    case "/open":
      return files.open(layer);
    case "/close":
      return files.close(layer, next === null ? undefined : Number(next));
    case "/finish":
      return files.finish();
    default:
      throw new Error(`Unknown path ${pathname}`);
  }
}
