/**
 * The state of a project is private to the user: folders have mode 0700 and files 0600.
 *
 * The folders and files of this process get the mode when they are made. What workerd makes is
 * private by its umask (`programs.ts`), and otherwise by the mode of the folders above.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Makes a folder that other users cannot enter, and the folders above it where they are missing. */
export function makePrivateFolder(path: string): void {
  // A mode given here would apply to the folders above ours too.
  mkdirSync(path, { recursive: true });
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700);
  } catch {
    // The folder belongs to another user, or its file system has no modes.
  }
}

/**
 * The text of a private file that is made once, such as a secret: later processes read what the first
 * has made.
 *
 * Two processes may start at the same time. Each writes a file of its own and links it to the name;
 * the link of the second fails, and both read the same file.
 */
export function readOrMakeFile(
  { folder, name }: { readonly folder: string; readonly name: string },
  make: () => string,
): string {
  const path = join(folder, name);
  return readText(path) ?? makeText(folder, path, make());
}

function makeText(folder: string, path: string, made: string): string {
  makePrivateFolder(folder);
  const own = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  // A loss of power leaves the whole text, or no file.
  writeFileSync(own, made, { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(own, path);
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readText(path) ?? made;
  } finally {
    rmSync(own, { force: true });
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/**
 * Writes a record whole or not at all, because other processes ignore half a record. Only the user
 * that runs the process can read the record.
 */
export function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.new`;
  try {
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
