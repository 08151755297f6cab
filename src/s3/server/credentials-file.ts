/**
 * The credentials of a state folder: made once, and kept in a file that only the user can read.
 *
 * Two processes may start at the same time. Each writes a file of its own and links it to the name;
 * the link of the second fails, and both read the same file.
 */
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../../base/private-files.ts";
import { explain } from "../../base/usable-folder.ts";
import { UserError } from "../../base/user-error.ts";
import type { Credentials } from "../signature/verify-signature.ts";

const fileName = "credentials.json";
/** The lengths of the deployed service's. */
const idBytes = 16;
const secretBytes = 32;

/** @throws UserError when the file cannot be written, or is not valid */
export function readOrMakeCredentials(folder: string): Credentials {
  const path = join(folder, fileName);
  try {
    return readCredentials(path) ?? makeCredentials(folder, path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw explain(error, folder);
  }
}

function makeCredentials(folder: string, path: string): Credentials {
  makePrivateFolder(folder);
  const made: Credentials = {
    accessKeyId: randomBytes(idBytes).toString("hex"),
    secretAccessKey: randomBytes(secretBytes).toString("hex"),
  };
  const own = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  writeFileSync(own, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(own, path);
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return readCredentials(path) ?? made;
  } finally {
    rmSync(own, { force: true });
  }
}

/** `null` when there is no file */
function readCredentials(path: string): Credentials | null {
  let text;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const { accessKeyId, secretAccessKey } = parseObject(text);
  if (typeof accessKeyId === "string" && typeof secretAccessKey === "string") {
    return { accessKeyId, secretAccessKey };
  }
  throw new UserError(
    `${path} has no accessKeyId and secretAccessKey. Remove the file, and new credentials are made.`,
  );
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
