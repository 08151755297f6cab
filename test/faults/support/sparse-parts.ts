/** Objects with more parts than a test could upload: their files have a size and no blocks. */
import { closeSync, ftruncateSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Adds parts to the only object of the bucket `photos` of a stopped store, up to `partCount`. */
export function addSparseParts(folder: string, partCount: number, partBytes: number): void {
  const databases = join(folder, "store", "databases", "ledge-store-bucket");
  const [name] = readdirSync(databases).filter((file) => /^[0-9a-f]+\.sqlite$/.test(file));
  const database = new DatabaseSync(join(databases, name as string));
  const { fields, segments } = database.prepare("SELECT fields, segments FROM objects").get() as {
    fields: string;
    segments: string;
  };
  const parts = JSON.parse(segments) as [size: number, blob: string][];
  const size = parts.reduce((sum, [bytes]) => sum + bytes, 0);
  // The last part stays the last: only it may be smaller.
  const [last] = parts.splice(-1) as [[number, string]];
  const [runId] = last[1].split(".");
  const insert = database.prepare("INSERT INTO blobs (name) VALUES (?)");
  database.exec("BEGIN");
  for (let n = parts.length + 1; n < partCount; n++) {
    const blob = `${runId}.${n.toString(16).padStart(32, "0")}`;
    const file = openSync(join(folder, "store", "blobs", "photos", blob), "w");
    ftruncateSync(file, partBytes);
    closeSync(file);
    insert.run(blob);
    parts.push([partBytes, blob]);
  }
  parts.push(last);
  const newSize = parts.reduce((sum, [bytes]) => sum + bytes, 0);
  database
    .prepare("UPDATE objects SET segments = ?, fields = ?")
    .run(JSON.stringify(parts), fields.replace(`,${size},`, `,${newSize},`));
  database.exec("COMMIT");
  database.close();
}
