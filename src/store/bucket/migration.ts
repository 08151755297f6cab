/** Opens the database of a bucket, and migrates a database of an older format. */
import { createTables, formatVersion, requestStatements } from "./schema.ts";
import { firstRow } from "./rows.ts";

type Storage = Pick<DurableObjectStorage, "sql" | "transactionSync">;

/** @throws Error when the format of the database is newer than this version of the store */
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
  // One transaction: a crash leaves the database unchanged.
  storage.transactionSync(() => {
    if (version === 0) createTables(sql);
    else {
      if (version === 1) migrateFirst(sql);
      else for (const statement of requestStatements) sql.exec(statement);
      sql.exec("UPDATE format SET version = ?", formatVersion);
    }
  });
}

/** Whether the database has no tables yet. */
export function isNew(sql: SqlStorage): boolean {
  return currentVersion(sql) === 0;
}

/** 0 for an empty database. Format 1 has no `format` table. */
function currentVersion(sql: SqlStorage): number {
  const tables = sql.exec("SELECT name FROM sqlite_master WHERE name IN ('format', 'objects')");
  const names = new Set(Array.from(tables.raw<[string]>(), ([name]) => name));
  if (!names.has("format")) return names.has("objects") ? 1 : 0;
  return firstRow<[number]>(sql.exec("SELECT version FROM format"))?.[0] ?? 0;
}

const firstTables = ["objects", "bodies", "blobs", "uploads", "parts"];

const oneBody =
  "json_array_length(segments) = 1 AND json_type(segments, '$[0][1]') IN ('integer', 'real')";

/** Format 2 has text instead of a column for each field, and `body` instead of one segment. */
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
