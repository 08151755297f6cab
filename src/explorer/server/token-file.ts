/**
 * The token of a state folder: made once, and kept in a file that only the user can read. The same
 * token is used after a restart, so an open page and a bookmark go on.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../../base/private-files.ts";
import { explain } from "../../base/usable-folder.ts";

const fileName = "token";
const tokenPattern = /^[0-9a-f]{32}$/;

/** @throws UserError when the file cannot be written */
export function readOrMakeToken(folder: string): string {
  const path = join(folder, fileName);
  try {
    return readToken(path) ?? makeToken(folder, path);
  } catch (error) {
    throw explain(error, folder);
  }
}

function readToken(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8").trim();
    if (tokenPattern.test(text)) return text;
    rmSync(path);
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Two processes may start at the same time: the link of the second fails, and both read one file. */
function makeToken(folder: string, path: string): string {
  makePrivateFolder(folder);
  const made = randomBytes(16).toString("hex");
  const own = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(own, `${made}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(own, path);
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readToken(path) ?? made;
  } finally {
    rmSync(own, { force: true });
  }
}
