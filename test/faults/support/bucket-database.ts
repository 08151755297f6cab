/** The database of the bucket `photos`, opened beside or instead of its owner. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** @param folder a store in which a runtime has used the bucket `photos` and no other */
export function openBucketDatabase(folder: string, readOnly = false): DatabaseSync {
  const databases = join(folder, "store", "databases", "ledge-store-bucket");
  const name = readdirSync(databases).find((file) => /^[0-9a-f]+\.sqlite$/.test(file));
  return new DatabaseSync(join(databases, name as string), { readOnly });
}
