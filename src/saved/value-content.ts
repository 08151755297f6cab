/**
 * Values that have one path and other bytes.
 *
 * The owner of a value gives it a name that no other value has, so a value is known by its path, and its bytes are not read.
 * This does not hold for what is imported: the value of the same path can be damaged here, or two archives can have made it.
 * The value of the import is then in `.contents`, by the hash of its bytes. From then on, the files of values are
 * compared in this state folder: two names of one file, or the same bytes.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { savedFolder } from "../state/folder.ts";

/** Stays when its last value has gone: what is there can be a value that was in it. */
export function contentsFolder(stateFolder: string): string {
  return join(savedFolder(stateFolder), ".contents");
}

/** Whether the path of a value says which bytes it has. */
export function isPathEnough(stateFolder: string): boolean {
  return !existsSync(contentsFolder(stateFolder));
}

/** @returns `false` if a file does not exist */
export function hasSameContent(path: string, other: string): boolean {
  const [one, two] = [path, other].map((each) => statSync(each, { throwIfNoEntry: false }));
  if (one === undefined || two === undefined) return false;
  if (one.ino === two.ino && one.dev === two.dev) return true;
  return one.size === two.size && contentHash(path) === contentHash(other);
}

const chunkBytes = 1024 * 1024;

export function contentHash(path: string): string {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(chunkBytes);
  const file = openSync(path, "r");
  try {
    for (let bytes = -1; bytes !== 0;) {
      bytes = readSync(file, chunk);
      hash.update(chunk.subarray(0, bytes));
    }
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}
