/** The credentials of a state folder: made once, and kept in a file that only the user can read. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readOrMakeFile } from "../../base/private-files.ts";
import { explain } from "../../state/folder.ts";
import { UserError } from "../../base/user-error.ts";
import type { S3Credentials } from "../../http/signature.ts";

const fileName = "credentials.json";
/** The lengths of the deployed service's. */
const idBytes = 16;
const secretBytes = 32;

/** @throws UserError when the file cannot be written, or is not valid */
export function readOrMakeCredentials(folder: string): S3Credentials {
  const { accessKeyId, secretAccessKey } = parseObject(readFile(folder));
  if (typeof accessKeyId === "string" && typeof secretAccessKey === "string") {
    return { accessKeyId, secretAccessKey };
  }
  throw new UserError(
    `${join(folder, fileName)} has no accessKeyId and secretAccessKey. Remove the file, and new ` +
      "credentials are made.",
  );
}

function readFile(folder: string): string {
  try {
    return readOrMakeFile(
      { folder, name: fileName },
      () => `${JSON.stringify(newCredentials(), null, 2)}\n`,
    );
  } catch (error) {
    throw explain(error, folder);
  }
}

function newCredentials(): S3Credentials {
  return {
    accessKeyId: randomBytes(idBytes).toString("hex"),
    secretAccessKey: randomBytes(secretBytes).toString("hex"),
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
