/**
 * A private file that is made once, such as a secret: later processes read what the first has made.
 *
 * Two processes may start at the same time. Each writes a file of its own and links it to the name;
 * the link of the second fails, and both read the same file.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "./private-files.ts";

interface PrivateFile {
  readonly folder: string;
  readonly name: string;
}

/** The text of the file, which gets the text that `make` returns if there is no file. */
export function readOrMakeFile({ folder, name }: PrivateFile, make: () => string): string {
  const path = join(folder, name);
  return readText(path) ?? makeText(folder, path, make());
}

function makeText(folder: string, path: string, made: string): string {
  makePrivateFolder(folder);
  const own = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(own, made, { mode: 0o600, flag: "wx" });
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
