/**
 * The record of a server in the state folder: where the running server of the folder listens. Several
 * servers of one folder overwrite each other's record; each of them serves the same buckets.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../../base/private-files.ts";
import { isAlive, thisProcess, type ProcessIdentity } from "../../base/processes.ts";

interface ServerRecord extends ProcessIdentity {
  readonly url: string;
}

const fileName = "server.json";

/** @returns a function that removes the record, unless another server has written its own */
export function recordServer(folder: string, url: string): () => void {
  makePrivateFolder(folder);
  const record: ServerRecord = { ...thisProcess(), url };
  const path = join(folder, fileName);
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(partial, path);
  return () => {
    if (readRecord(folder)?.url === url) rmSync(path, { force: true });
  };
}

/** The URL of the folder's running server; `null` if there is none. */
export function findServer(folder: string): string | null {
  const record = readRecord(folder);
  return record !== null && isAlive(record) ? record.url : null;
}

function readRecord(folder: string): ServerRecord | null {
  try {
    const { processId, url, ...rest } = JSON.parse(
      readFileSync(join(folder, fileName), "utf8"),
    ) as Partial<ServerRecord>;
    return typeof processId === "number" && typeof url === "string"
      ? { ...rest, processId, url }
      : null;
  } catch {
    // There is no record, or a crash has left half of it.
    return null;
  }
}
