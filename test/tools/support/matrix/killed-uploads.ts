/** Uploads that end with `kill -9`, and the files that the next start finds. */
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { eventually, type Program } from "./program.ts";

/** Of an upload, before the kill: its file is on the disk, and the rest of its content is not sent. */
const bytesBefore = 1_000_000;
const bytesSent = 2 * bytesBefore;

/**
 * Kills the dev server during an upload, again and again.
 *
 * @param start starts the dev server in the folder of the project
 */
export async function killUploads(
  folder: string,
  kills: number,
  start: () => { readonly server: Program; readonly url: Promise<string> },
): Promise<void> {
  for (let round = 0; round < kills; round++) {
    const { server, url } = start();
    try {
      await assertNothingLeft(folder, round);
      const upload = request(`${await url}/half-${round}`, {
        method: "PUT",
        headers: { "content-length": 2 * bytesSent },
      });
      upload.on("error", () => {});
      upload.write(Buffer.alloc(bytesSent, "u"));
      await eventually(() => assert.ok(hasUpload(folder), "The upload has no file."));
    } finally {
      server.kill();
      await server.ended;
    }
    assert.ok(hasUpload(folder), "The kill has left no file, so it proves nothing.");
  }
  const { server, url } = start();
  try {
    await url;
    await assertNothingLeft(folder, kills);
  } finally {
    await server.interrupt();
  }
}

/** A start removes what killed processes have left, soon after the server is ready. */
async function assertNothingLeft(folder: string, kills: number): Promise<void> {
  await eventually(() => {
    const names = blobFiles(folder).map(({ path }) => path);
    assert.deepEqual(names, [], `These files are left after ${kills} kills.`);
  });
}

function hasUpload(folder: string): boolean {
  return blobFiles(folder).some(({ bytes }) => bytes >= bytesBefore);
}

interface File {
  readonly path: string;
  readonly bytes: number;
}

/** Every file of a bucket, also files that are being written; without the mark of a database. */
function blobFiles(folder: string): File[] {
  const blobs = join(folder, ".wrangler/state/v3/store/blobs");
  let entries;
  try {
    entries = readdirSync(blobs, { recursive: true, withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    if (!entry.isFile() || entry.name.startsWith("database.")) return [];
    const path = join(entry.parentPath, entry.name);
    try {
      return { path, bytes: statSync(path).size };
    } catch {
      // The file was removed meanwhile.
      return [];
    }
  });
}
