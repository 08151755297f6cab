/**
 * Where a project keeps its state. The layout is wrangler's:
 *
 *     .wrangler/state/      the state folder; `persistTo` names another
 *       v3/                 the folder of Miniflare
 *         store/, dns/, …   a folder for each plugin
 *
 * A start first checks that the folder can hold databases: each reason why it cannot is one
 * sentence. Without this check Miniflare or workerd would fail with a stack that does not name the
 * folder.
 */
import { join, resolve, dirname } from "node:path";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { makePrivateFolder } from "../base/private-files.ts";
import { UserError } from "../base/user-error.ts";

/** @param persistTo relative to the working directory, as wrangler has it */
export function stateFolder(projectFolder: string, persistTo?: string): string {
  return persistTo === undefined ? join(projectFolder, ".wrangler", "state") : resolve(persistTo);
}

/** Miniflare's `resourcePersistencePath`. */
export function persistPath(state: string): string {
  return join(state, "v3");
}

/** Miniflare's `getPersistPath()`, without Miniflare. */
export function pluginFolder(state: string, pluginName: string): string {
  return join(persistPath(state), pluginName);
}

/** The state folder of the folder of a plugin. */
export function stateFolderOf(pluginFolderPath: string): string {
  return resolve(pluginFolderPath, "../..");
}

/** The folder of the saved states (`saved/saved-record.ts`). */
export function savedFolder(state: string): string {
  return join(state, "saved");
}

/** The lock of the process that saves or restores. */
export function savedLockPath(state: string): string {
  return join(savedFolder(state), ".lock");
}

export interface FolderNeeds {
  /** Folders below the folder; they are created. */
  readonly subfolders?: readonly string[];
  /** The reserve (`disk.ts`), below the folder. */
  readonly reserve?: string;
  /** The caller only checks the folder: the reserve stays for the runtime that starts later. */
  readonly reserveKept?: boolean;
}

/** The start of a runtime writes a few small files and the indexes of SQLite's logs. */
const startBytes = 512 * 1024;
/** The start of a dev server makes about 22 files and folders. */
const spareFileCount = 24;
const databaseFile = /\.sqlite(?:-wal|-shm)?$/;

/** The folders whose reserve this process has given up: a part of the start may ask again. */
const releasedReserves = new Set<string>();

/**
 * Creates a folder and checks that it can be used. On a full device the reserve is given up, so
 * that a start can read and delete. A device can have space and no inodes for files: so beside the
 * reserve there are spare files, which are given up with the reserve.
 *
 * @returns whether the device is full
 * @throws UserError when the folder cannot be used
 */
export function requireUsableFolder(
  folder: string,
  { subfolders = [], reserve, reserveKept = false }: FolderNeeds = {},
): { isFull: boolean } {
  const paths = [folder, ...subfolders.map((name) => join(folder, name))];
  const prepare = (): void => {
    for (const path of paths) makePrivateFolder(path);
    for (const path of paths) requireAccess(path);
    attemptWrite(folder);
  };
  const reservePath = reserve === undefined ? undefined : join(folder, reserve);
  const reserves = reservePath === undefined ? [] : [reservePath, spareFiles(reservePath)];
  const hasReserve = reservePath !== undefined && existsSync(reservePath);
  try {
    prepare();
    if (reservePath !== undefined && !releasedReserves.has(folder)) makeSpareFiles(reservePath);
    return { isFull: releasedReserves.has(folder) && !hasReserve };
  } catch (error) {
    if (!isSpaceError(error) || !reserves.some(existsSync)) throw explain(error, folder);
    if (reserveKept) return { isFull: true };
    for (const path of reserves) rmSync(path, { recursive: true, force: true });
    releasedReserves.add(folder);
  }
  try {
    prepare();
    return { isFull: true };
  } catch (error) {
    throw explain(error, folder);
  }
}

/**
 * The same for a folder of which only a part is ours: creates the folder, and leaves its mode as it
 * is.
 *
 * @throws UserError when the folder cannot be used
 */
export function requireWritableFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw explain(error, folder);
  }
}

/** What the user is told when a start goes on although the device is full. */
export function fullDeviceText(folder: string): string {
  return lacksInodes(folder)
    ? `${noInodes(folder)} Reads and deletes work, and files of large values are not stored until ` +
        "there are inodes again."
    : `No space left on the device that holds ${folder}. Reads and deletes work, and nothing else ` +
        "is stored until there is space again.";
}

function noInodes(folder: string): string {
  return `No free inodes on the device that holds ${folder}: it has space, but takes no more files (df -i).`;
}

/** Whether files, and not bytes, are what the device lacks. Some file systems have no such limit. */
function lacksInodes(folder: string): boolean {
  let place = folder;
  while (!existsSync(place)) place = dirname(place);
  const { files, ffree, bavail, bsize } = statfsSync(place);
  return files > 0 && ffree < spareFileCount && bavail * bsize > startBytes;
}

/** The sentence for an error of the file system; other errors are returned as they are. */
export function explain(error: unknown, folder: string): unknown {
  const { code, path = folder } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      if (lacksInodes(folder)) {
        return new UserError(
          `${noInodes(folder)} Remove files from this device, then start again.`,
        );
      }
      return new UserError(
        `No space left on the device that holds ${folder}. Free space on this device, then start ` +
          "again.",
      );
    case "EROFS":
      return new UserError(
        `Cannot write to ${folder}: its device is mounted read-only. Mount it for writing. ${otherFolder}`,
      );
    case "EACCES":
    case "EPERM":
      return new UserError(
        `This user may not write to ${path}${ownerOf(path)}. Change the owner or the ` +
          `permissions. ${otherFolder}`,
      );
    case "ENOTDIR":
    case "EEXIST":
      return new UserError(
        `${fileInTheWay(path)} is a file, but a folder is needed there. Move the file. ` +
          otherFolder,
      );
    case "EIO":
      return new UserError(`The device that holds ${folder} fails: ${(error as Error).message}.`);
    case undefined:
    default:
      return error;
  }
}

const otherFolder = "Or name another folder for the state (--persist-to).";

function isSpaceError(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function spareFiles(reservePath: string): string {
  return `${reservePath}-files`;
}

function makeSpareFiles(reservePath: string): void {
  const folder = spareFiles(reservePath);
  makePrivateFolder(folder);
  for (let count = readdirSync(folder).length; count < spareFileCount; count++) {
    writeFileSync(join(folder, String(count)), "", { mode: 0o600 });
  }
}

function attemptWrite(folder: string): void {
  const path = join(folder, `.attempt-${process.pid}`);
  try {
    writeFileSync(path, new Uint8Array(startBytes), { mode: 0o600 });
  } finally {
    rmSync(path, { force: true });
  }
}

/** A database that another user has created may be in a folder that this user may write to. */
function requireAccess(folder: string): void {
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      for (const name of readdirSync(path)) {
        if (databaseFile.test(name)) accessSync(join(path, name), constants.R_OK | constants.W_OK);
      }
    } else if (databaseFile.test(entry.name)) accessSync(path, constants.R_OK | constants.W_OK);
  }
}

function ownerOf(path: string): string {
  const { uid } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return uid === undefined || uid === process.getuid?.() ? "" : `, which belongs to user ${uid}`;
}

/** The file among the parents of a path. */
function fileInTheWay(path: string): string {
  let place = path;
  while (dirname(place) !== place) {
    try {
      if (!statSync(place).isDirectory()) return place;
      return path;
    } catch {
      place = dirname(place);
    }
  }
  return path;
}
