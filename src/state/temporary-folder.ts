/**
 * Folders for state that ends with its process: on a memory file system where there is room, because most of the
 * time of a write is that SQLite waits for the disk.
 */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { OwnFolder, removeLeftFolders } from "./runs.ts";

const memoryPath = "/dev/shm";
/** `statfs` of Linux has this type for a file system in memory. */
const memoryType = 0x01021994;
/** With less free space the state is on the disk: a full file system would fail the writes of scripts. */
const freeBytesMin = 1024 ** 3;

/** Of the names of such folders. */
export const ownFolderPrefix = `ledge-${process.getuid?.()}-`;

/** Whether a file system is in memory, and has room for state. */
export function isRoomyMemory(fileSystem: { type: number; bavail: number; bsize: number }) {
  const { type, bavail, bsize } = fileSystem;
  return type === memoryType && bavail * bsize >= freeBytesMin;
}

/** The path of the file system in memory, or `null` if there is none with enough room. */
export function findMemory(): string | null {
  try {
    return isRoomyMemory(statfsSync(memoryPath)) ? memoryPath : null;
  } catch {
    return null;
  }
}

/** Makes a folder that is gone with this process at the latest: a later process removes what a kill leaves. */
export function makeTemporaryFolder(): { readonly path: string; remove(): void } {
  // What a killed process has left takes the room that is looked for.
  removeLeftFolders(memoryPath, ownFolderPrefix);
  const folder = new OwnFolder(findMemory() ?? tmpdir(), ownFolderPrefix);
  const remove = (): void => {
    process.off("exit", remove);
    folder.remove();
  };
  process.on("exit", remove);
  return { path: folder.path, remove };
}
