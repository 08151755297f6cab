/** Parts of which a test could not upload as many: their files have a size and no blocks. */
import { hash } from "node:crypto";
import { closeSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openBucketDatabase } from "../../support/databases.ts";

interface NewFiles {
  readonly folder: string;
  readonly count: number;
  readonly bytes: number;
  /** The first half of the names: the run that wrote the files */
  readonly runId: string;
}

/** Creates blob files of the bucket `photos` and returns their names. */
export function createSparseFiles({ folder, count, bytes, runId }: NewFiles): string[] {
  return Array.from({ length: count }, (_, n) => {
    const blob = `${runId}.${n.toString(16).padStart(32, "0")}`;
    const file = openSync(join(folder, "store", "blobs", "photos", blob), "w");
    ftruncateSync(file, bytes);
    closeSync(file);
    return blob;
  });
}

/** Adds parts to the only object of a stopped store, so that it has `partCount` parts. */
export function addSparseParts(folder: string, partCount: number, partBytes: number): void {
  const database = openBucketDatabase(folder);
  const { fields, segments } = database.prepare("SELECT fields, segments FROM objects").get() as {
    fields: string;
    segments: string;
  };
  const parts = JSON.parse(segments) as [size: number, blob: string, md5: string][];
  const last = parts.at(-1) as [number, string, string];
  const blobs = createSparseFiles({
    folder,
    count: partCount - parts.length,
    bytes: partBytes,
    runId: last[1].split(".")[0] as string,
  });
  // The last part stays the last: only the last part may be smaller.
  const md5 = hash("md5", Buffer.alloc(partBytes));
  const added = blobs.map((blob): [number, string, string] => [partBytes, blob, md5]);
  const all = [...parts.slice(0, -1), ...added, last];
  insertBlobs(database, blobs);
  database
    .prepare("UPDATE objects SET segments = ?, fields = ?")
    .run(JSON.stringify(all), fields.replace(`,${sizeOf(parts)},`, `,${sizeOf(all)},`));
  database.close();
}

/** Adds parts to the only upload of a stopped store. */
export function addSparseUploadParts(folder: string, partCount: number): void {
  const database = openBucketDatabase(folder);
  const { upload_id: uploadId } = database.prepare("SELECT upload_id FROM uploads").get() as {
    upload_id: string;
  };
  const runId = "0123456789abcdef";
  const blobs = createSparseFiles({ folder, count: partCount, bytes: 1, runId });
  insertBlobs(database, blobs);
  const insert = database.prepare(
    "INSERT INTO parts (upload_id, part_number, size, etag, place, uploaded) " +
      "VALUES (?, ?, 1, 'etag', ?, 0)",
  );
  database.exec("BEGIN");
  blobs.forEach((blob, index) => insert.run(uploadId, index + 1, blob));
  database.exec("COMMIT");
  database.close();
}

function insertBlobs(database: DatabaseSync, blobs: readonly string[]): void {
  const insert = database.prepare("INSERT INTO blobs (name) VALUES (?)");
  database.exec("BEGIN");
  for (const blob of blobs) insert.run(blob);
  database.exec("COMMIT");
}

function sizeOf(parts: readonly [size: number, blob: string, md5: string][]): number {
  return parts.reduce((sum, [bytes]) => sum + bytes, 0);
}
