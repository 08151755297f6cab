/**
 * The token of a state folder: made once, and kept in a file that only the user can read. The same
 * token is used after a restart, so an open page and a bookmark go on.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readOrMakeFile } from "../../base/private-files.ts";
import { explain } from "../../state/folder.ts";
import { UserError } from "../../base/user-error.ts";

const fileName = "token";
const tokenBytes = 16;
const tokenPattern = /^[0-9a-f]{32}$/;

/** @throws UserError when the file cannot be written, or is not valid */
export function readOrMakeToken(folder: string): string {
  const token = readFile(folder).trim();
  if (tokenPattern.test(token)) return token;
  throw new UserError(
    `${join(folder, fileName)} has no token. Remove the file, and a new token is made.`,
  );
}

function readFile(folder: string): string {
  try {
    const make = () => `${randomBytes(tokenBytes).toString("hex")}\n`;
    return readOrMakeFile({ folder, name: fileName }, make);
  } catch (error) {
    throw explain(error, folder);
  }
}
