/** Opens the database of a bucket, and migrates a database of an older format. */
import { formatVersion, newerFormatText } from "../core/errors.ts";
import {
  createTables,
  newDatabaseId,
  releasedStatements,
  requestStatements,
  settingsStatements,
  onlyRow,
} from "./schema.ts";

type Storage = Pick<DurableObjectStorage, "sql" | "transactionSync">;

interface OpenedDatabase {
  /** Names the database in the folder of the files. */
  readonly databaseId: string;
  /** Whether rows without checksums are intact: those of an earlier format. */
  readonly hasUnsealedRows: boolean;
}

/** @throws Error when the format of the database is newer than this version of the store */
export function openTables(storage: Storage, bucketName: string): OpenedDatabase {
  const { sql } = storage;
  const version = currentVersion(sql);
  if (version > formatVersion) throw new Error(newerFormatText(bucketName, version));
  // One transaction: a crash leaves the database unchanged.
  if (version < formatVersion) {
    storage.transactionSync(() => {
      if (version === 0) createTables(sql);
      else if (version === 1) migrateFirst(sql);
      else {
        dropUndoJournal(sql);
        if (version === 2) migrateSecond(sql);
        if (version <= 3) migrateThird(sql);
        if (version <= 4) migrateFourth(sql);
        migrateFifth(sql);
      }
    });
  }
  const [databaseId, hasUnsealedRows] = onlyRow<[string, number]>(
    sql.exec("SELECT database_id, has_unsealed_rows FROM format"),
  );
  return { databaseId, hasUnsealedRows: hasUnsealedRows !== 0 };
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
  return onlyRow<[number]>(sql.exec("SELECT max(version) FROM format"))[0] ?? 0;
}

const firstTables = ["objects", "bodies", "blobs", "uploads", "parts"];

/** The columns of the first format that did not change, by table. */
const firstColumns: Record<string, string> = {
  bodies: "id, bytes",
  blobs: "name",
  uploads: "upload_id, key, state, since, storage_class, http, custom",
  parts: "upload_id, part_number, size, etag, place",
};

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
  for (const [name, columns] of Object.entries(firstColumns)) {
    sql.exec(`INSERT INTO ${name} (${columns}) SELECT ${columns} FROM first_${name}`);
  }
  for (const name of firstTables) sql.exec(`DROP TABLE first_${name}`);
  sql.exec("UPDATE format SET has_unsealed_rows = 1");
}

/**
 * Format 3 has checksums, and the table of requests. The rows stay as they are: to compute the
 * checksums of all contents would take minutes, and would declare damaged content intact.
 */
function migrateSecond(sql: SqlStorage): void {
  addColumns(sql, sealColumns);
  for (const statement of requestStatements) sql.exec(statement);
  sql.exec(`UPDATE format SET version = 3, database_id = ${newDatabaseId}, has_unsealed_rows = 1`);
}

/**
 * Format 4 has the checksums of the S3-compatible interface, the times of parts, and settings. The
 * checksum of a row that is there already does not cover the new columns (`upload-table.ts`).
 */
function migrateThird(sql: SqlStorage): void {
  addColumns(sql, s3Columns);
  for (const statement of settingsStatements) sql.exec(statement);
  sql.exec("UPDATE format SET version = 4");
}

/** Format 5 has the keys of customers (`core/customer-key.ts`). */
function migrateFourth(sql: SqlStorage): void {
  addColumns(sql, keyColumns);
  sql.exec("UPDATE format SET version = 5");
}

/** Format 6 has the files that are about to be removed. */
function migrateFifth(sql: SqlStorage): void {
  for (const statement of releasedStatements) sql.exec(statement);
  sql.exec("UPDATE format SET version = 6");
}

type AddedColumns = readonly (readonly [table: string, column: string])[];

function addColumns(sql: SqlStorage, columns: AddedColumns): void {
  for (const [table, column] of columns) sql.exec(`ALTER TABLE ${table} ADD COLUMN ${column}`);
}

const sealColumns: AddedColumns = [
  ["format", "database_id TEXT"],
  ["format", "has_unsealed_rows INTEGER"],
  ["objects", "item_checksum INTEGER"],
  ["objects", "content_checksum INTEGER"],
  ["objects", "checksum INTEGER"],
  ["uploads", "checksum INTEGER"],
  ["parts", "checksum INTEGER"],
  ["parts", "content_checksum INTEGER"],
];

const s3Columns: AddedColumns = [
  ["uploads", "created INTEGER"],
  ["uploads", "checksum_algorithm TEXT"],
  ["uploads", "checksum_type TEXT"],
  ["parts", "uploaded INTEGER"],
  ["parts", "checksums TEXT"],
];

const keyColumns: AddedColumns = [["uploads", "ssec_key_md5 TEXT"]];

/** The journal's copies have the columns of the earlier format. The journal is created again. */
function dropUndoJournal(sql: SqlStorage): void {
  const query = "SELECT type, name FROM sqlite_master WHERE name GLOB 'undo_*' AND sql IS NOT NULL";
  const parts = sql.exec(query).raw<[string, string]>();
  // Triggers first: a trigger is dropped with its table.
  for (const [type, name] of [...parts].toSorted((one, other) => (one[0] < other[0] ? 1 : -1))) {
    sql.exec(`DROP ${type} "${name}"`);
  }
}
