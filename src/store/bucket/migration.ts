/** Opens a bucket's database, whichever version of the store has written it. */
import { createTables, formatVersion } from "./schema.ts";
import { firstRow } from "./rows.ts";

type Storage = Pick<DurableObjectStorage, "sql" | "transactionSync">;

/** @throws Error when the database is of a version that is not known yet */
export function openTables(storage: Storage): void {
  const { sql } = storage;
  const version = currentVersion(sql);
  if (version === formatVersion) return;
  if (version > formatVersion) {
    throw new Error(
      `Cannot open the bucket: its database has format ${version}, and this version of the store ` +
        `knows formats up to ${formatVersion}. Use the version that wrote it, or another folder.`,
    );
  }
  // All or nothing: a crash in between leaves the database as it was.
  storage.transactionSync(() => {
    if (version === 0) createTables(sql);
    else migrateFirst(sql);
  });
}

/** 0 for an empty database. The first format had no table to say so. */
function currentVersion(sql: SqlStorage): number {
  const tables = sql.exec("SELECT name FROM sqlite_master WHERE name IN ('format', 'objects')");
  const names = new Set(Array.from(tables.raw<[string]>(), ([name]) => name));
  if (!names.has("format")) return names.has("objects") ? 1 : 0;
  return firstRow<[number]>(sql.exec("SELECT version FROM format"))?.[0] ?? 0;
}

const firstTables = ["objects", "bodies", "blobs", "uploads", "parts"];

const oneBody =
  "json_array_length(segments) = 1 AND json_type(segments, '$[0][1]') IN ('integer', 'real')";

/** Columns for each field have become text, and segments of one body its id. */
function migrateFirst(sql: SqlStorage): void {
  sql.exec("DROP INDEX uploads_by_since");
  sql.exec("DROP INDEX uploads_by_key");
  for (const name of firstTables) sql.exec(`ALTER TABLE ${name} RENAME TO first_${name}`);
  createTables(sql);
  sql.exec(
    `INSERT INTO objects (key, fields, metadata, body, segments)
     SELECT key,
       json_array(version, size, etag, uploaded, storage_class, json(checksums)),
       iif(http = '{}' AND custom = '{}', NULL, json_array(json(http), json(custom))),
       iif(${oneBody}, segments ->> '$[0][1]', NULL),
       iif(${oneBody}, NULL, segments)
     FROM first_objects`,
  );
  for (const name of firstTables.slice(1)) {
    sql.exec(`INSERT INTO ${name} SELECT * FROM first_${name}`);
  }
  for (const name of firstTables) sql.exec(`DROP TABLE first_${name}`);
}
