/**
 * What the server keeps in the state folder: its credentials, and where it listens.
 *
 * Credentials are made once, and kept in a file that only the user can read. Several servers of one
 * folder overwrite each other's record; each of them serves the same buckets.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readOrMakeFile, makePrivateFolder, writeWhole } from "../base/private-files.ts";
import { explain } from "../state/folder.ts";
import { beginRun, endRun, isRunActive, newRunId, removeEndedRuns } from "../state/runs.ts";
import { UserError } from "../base/user-error.ts";
import type { S3Credentials } from "../http/signature.ts";

/** Where a server listens, unless the port is taken. */
export const defaultPort = 8789;
const credentialsName = "credentials.json";
/** The lengths of the deployed service's. */
const idBytes = 16;
const secretBytes = 32;

/** @throws UserError when the file cannot be written, or is not valid */
export function readOrMakeCredentials(folder: string): S3Credentials {
  let text: string;
  try {
    text = readOrMakeFile({ folder, name: credentialsName }, newCredentials);
  } catch (error) {
    throw explain(error, folder);
  }
  const { accessKeyId, secretAccessKey } = parseObject<S3Credentials>(text);
  if (typeof accessKeyId === "string" && typeof secretAccessKey === "string") {
    return { accessKeyId, secretAccessKey };
  }
  throw new UserError(
    `${join(folder, credentialsName)} has no accessKeyId and secretAccessKey. Remove the file, and new ` +
      "credentials are made.",
  );
}

function newCredentials(): string {
  const credentials: S3Credentials = {
    accessKeyId: randomBytes(idBytes).toString("hex"),
    secretAccessKey: randomBytes(secretBytes).toString("hex"),
  };
  return `${JSON.stringify(credentials, null, 2)}\n`;
}

interface ServerRecord {
  readonly url: string;
  /** While this run is active, the server listens. */
  readonly runId: string;
}

const recordName = "server.json";

/** @returns a function that removes the record, unless another server has written its own */
export function recordServer(folder: string, url: string): () => void {
  makePrivateFolder(folder);
  removeEndedRuns(folder);
  const record: ServerRecord = { url, runId: newRunId() };
  const path = join(folder, recordName);
  beginRun(folder, record.runId);
  writeWhole(path, `${JSON.stringify(record)}\n`);
  return () => {
    if (readRecord(folder)?.url === url) rmSync(path, { force: true });
    endRun(folder, record.runId);
  };
}

/** The URL of the folder's running server; `null` if there is none. */
export function findServer(folder: string): string | null {
  const record = readRecord(folder);
  return record !== null && isRunActive(folder, record.runId) ? record.url : null;
}

function readRecord(folder: string): ServerRecord | null {
  try {
    const text = readFileSync(join(folder, recordName), "utf8");
    const { url, runId } = parseObject<ServerRecord>(text);
    return typeof url === "string" && typeof runId === "string" ? { url, runId } : null;
  } catch {
    // There is no record.
    return null;
  }
}

/** A crash may have left half of a file. */
function parseObject<Type>(text: string): Partial<Type> {
  try {
    return Object(JSON.parse(text)) as Partial<Type>;
  } catch {
    return {};
  }
}
