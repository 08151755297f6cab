/**
 * The tables of a bucket, their format, and the settings.
 *
 * The primary key of `objects` is the key of the object (`WITHOUT ROWID`), so a listing is a scan
 * of the primary key; content, which would make the rows long, is in another table. The properties
 * of an object are text that SQL does not parse (`core/object.ts`).
 *
 * Content up to the inline limit is in `bodies`, and `body` is its id, except for a short `tail`
 * that does not fit in a page (`core/content.ts`). Larger content is in files, and content that
 * was uploaded in parts may be in rows and files: then the object has `segments` instead. `blobs`
 * names every file to which a row refers; a file that is not in `blobs` is garbage.
 *
 * `since` of an upload in progress is the time from which its deadline counts: the time of its
 * creation, or an earlier time if a rule of the bucket says so. `only_if` is the condition of its creation; the
 * column is the last, because databases and backups of earlier versions do not have it.
 *
 * `database_id` names the database in the folder of the files, and `generation` counts the files that
 * commits have named (`garbage-collector.ts`).
 *
 * Text is compared by its UTF-8 bytes (SQLite's BINARY collation), which is the order of keys.
 */
import { outcomeTable } from "../../state/outcomes.ts";
import type { DatabaseState } from "../core/content.ts";
import { formatVersion, otherFormatText } from "../core/errors.ts";
import type { ObjectRule } from "../core/lifecycle.ts";
import type { AbortRule } from "../core/multipart.ts";
import { restoredTables, type Request, type StoredSettings } from "../core/operations.ts";

const statements = [
  `CREATE TABLE format (version INTEGER NOT NULL PRIMARY KEY, database_id TEXT NOT NULL) STRICT`,
  `CREATE TABLE objects (
    key TEXT NOT NULL PRIMARY KEY,
    fields TEXT NOT NULL,
    metadata TEXT,
    body INTEGER,
    tail BLOB,
    segments TEXT
  ) WITHOUT ROWID, STRICT`,
  `CREATE TABLE bodies (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT`,
  `CREATE TABLE blobs (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID, STRICT`,
  `CREATE TABLE uploads (
    upload_id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    created INTEGER NOT NULL,
    storage_class TEXT NOT NULL,
    http TEXT NOT NULL,
    custom TEXT NOT NULL,
    checksum_algorithm TEXT,
    checksum_type TEXT,
    ssec_key_md5 TEXT,
    only_if TEXT
  ) WITHOUT ROWID, STRICT`,
  // For the next deadline, and for those that have passed.
  `CREATE INDEX uploads_by_since ON uploads (since)`,
  // For listings of uploads.
  `CREATE INDEX uploads_by_key ON uploads (key, since, upload_id)
    WHERE state = 'in progress'`,
  `CREATE TABLE parts (
    upload_id TEXT NOT NULL,
    part_number INTEGER NOT NULL,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    place ANY NOT NULL,
    uploaded INTEGER NOT NULL,
    checksums TEXT,
    PRIMARY KEY (upload_id, part_number)
  ) WITHOUT ROWID, STRICT`,
  outcomeTable,
  `CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT`,
  `CREATE TABLE released (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID, STRICT`,
  // A database of an earlier version does not have the table.
  `CREATE TABLE IF NOT EXISTS generation (id INTEGER PRIMARY KEY, number INTEGER NOT NULL) STRICT`,
  `INSERT OR IGNORE INTO generation VALUES (1, 0)`,
];
const generationStatements = statements.slice(-2);
const indexes = statements.filter((statement) => statement.startsWith("CREATE INDEX "));

type RestoredTable = (typeof restoredTables)[number];

/** The tables whose rows a new database does not have. */
const names = ["objects", "bodies", "blobs", "uploads", "parts", "settings", "released"];

/**
 * Opens the tables, and creates them in a new database.
 *
 * @throws Error when another version of the store has written the database
 */
export function openTables(
  storage: Pick<DurableObjectStorage, "sql" | "transactionSync">,
  bucketName: string,
): DatabaseState {
  const { sql } = storage;
  // One transaction: a crash leaves the database unchanged.
  if (isNew(sql)) storage.transactionSync(() => createTables(sql));
  const hasFormat = hasTable(sql, "format");
  const [version] = hasFormat ? onlyRow<[number]>(sql.exec("SELECT version FROM format")) : [0];
  if (version !== formatVersion) throw new Error(otherFormatText(bucketName, version));
  if (!hasTable(sql, "generation")) {
    storage.transactionSync(() => generationStatements.forEach((each) => sql.exec(each)));
  }
  if (!columnsOf(sql, "uploads").includes("only_if")) {
    storage.transactionSync(() => renewUploads(sql));
  }
  const query = "SELECT database_id, number FROM format, generation";
  const [databaseId, generation] = onlyRow<[string, number]>(sql.exec(query));
  return { databaseId, generation };
}

/** The table of an earlier version gets its new column. The triggers of the undo journal go with the old table. */
function renewUploads(sql: SqlStorage): void {
  dropStagedTables(sql);
  createStagedTable(sql, "uploads");
  sql.exec("INSERT INTO staged_uploads SELECT *, NULL FROM uploads");
  replaceByStagedTable(sql, "uploads");
  for (const statement of indexes) sql.exec(statement);
  sql.exec("DROP TABLE IF EXISTS undo_uploads");
}

/** Gives the database another id. */
export function renewDatabaseId(sql: SqlStorage): string {
  const statement =
    "UPDATE format SET database_id = lower(hex(randomblob(8))) RETURNING database_id";
  return onlyRow<[string]>(sql.exec(statement))[0];
}

export function isNew(sql: SqlStorage): boolean {
  return !hasTable(sql, "objects");
}

function hasTable(sql: SqlStorage, name: string): boolean {
  return firstRow(sql.exec("SELECT 1 FROM sqlite_master WHERE name = ?", name)) !== undefined;
}

export function columnsOf(sql: SqlStorage, table: string): string[] {
  return sql.exec(`SELECT * FROM ${table} LIMIT 0`).columnNames;
}

/** @param sql a database without any of the tables */
export function createTables(sql: Pick<SqlStorage, "exec">): void {
  for (const statement of statements) sql.exec(statement);
  sql.exec(`INSERT INTO format VALUES (${formatVersion}, lower(hex(randomblob(8))))`);
}

/** The staged tables have the form of the bucket's. */
export function createStagedTables(sql: SqlStorage): void {
  for (const name of restoredTables) createStagedTable(sql, name);
}

function createStagedTable(sql: SqlStorage, name: RestoredTable): void {
  const statement = statements.find((each) => each.startsWith(`CREATE TABLE ${name} `)) as string;
  sql.exec(statement.replace(`CREATE TABLE ${name} `, `CREATE TABLE staged_${name} `));
}

function replaceByStagedTable(sql: SqlStorage, name: RestoredTable): void {
  sql.exec(`DROP TABLE ${name}`);
  sql.exec(`ALTER TABLE staged_${name} RENAME TO ${name}`);
}

export function dropStagedTables(sql: SqlStorage): void {
  for (const name of restoredTables) sql.exec(`DROP TABLE IF EXISTS staged_${name}`);
}

/** To be called in a transaction. */
export function replaceByStagedTables(sql: SqlStorage): void {
  for (const name of restoredTables) replaceByStagedTable(sql, name);
  for (const statement of indexes) sql.exec(statement);
  sql.exec("UPDATE generation SET number = number + (SELECT count(*) FROM blobs)");
}

/**
 * Whether the bucket has no object, no upload and no setting, and there are no other tables (those of the undo
 * journal).
 */
export function isEmpty(sql: SqlStorage): boolean {
  const hasRows = names.map((name) => `EXISTS (SELECT 1 FROM ${name})`).join(" OR ");
  const known = names.map((name) => `'${name}'`).join(", ");
  const { used } = sql
    .exec<{ used: number }>(
      `SELECT ${hasRows} OR EXISTS (
          SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*'
            AND name NOT IN ('format', 'generation', 'requests', ${known})
        ) AS used`,
    )
    .one();
  return used === 0;
}

/** The first row of a query, as a tuple of its columns. */
export function firstRow<Row extends SqlStorageValue[]>(
  cursor: SqlStorageCursor<Record<string, SqlStorageValue>>,
): Row | undefined {
  return cursor.raw<Row>().next().value as Row | undefined;
}

/** The first row of a query that always has one. */
export function onlyRow<Row extends SqlStorageValue[]>(
  cursor: SqlStorageCursor<Record<string, SqlStorageValue>>,
): Row {
  const row = firstRow<Row>(cursor);
  if (row === undefined) throw new Error("The query returned no row");
  return row;
}

/** `deleted` marks a bucket that a request has deleted. */
type SettingName = keyof StoredSettings | "deleted";

/**
 * The settings of a bucket: rules that the S3-compatible interface has stored, and whether a request
 * has deleted the bucket. They are read once, because every upload that is created needs them.
 */
export class SettingsTable {
  readonly #sql: SqlStorage;
  #values: Partial<StoredSettings & { deleted: true }> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  settings(): StoredSettings {
    const { deleted: _, ...settings } = this.#read();
    return settings;
  }

  put({ cors, lifecycle }: Omit<Request<"putSettings">, "method">): void {
    if (cors !== undefined) this.#set("cors", cors);
    if (lifecycle !== undefined) this.#set("lifecycle", lifecycle);
  }

  get abortRules(): readonly AbortRule[] {
    return this.#read().lifecycle?.abortRules ?? [];
  }

  get objectRules(): readonly ObjectRule[] {
    return this.#read().lifecycle?.objectRules ?? [];
  }

  get isDeleted(): boolean {
    return this.#read().deleted === true;
  }

  markDeleted(): void {
    this.#sql.exec("DELETE FROM settings");
    this.#set("deleted", true);
  }

  unmarkDeleted(): void {
    if (this.isDeleted) this.#set("deleted", null);
  }

  /** The table may have changed: it is read again. */
  forget(): void {
    this.#values = undefined;
  }

  #set(name: SettingName, value: unknown): void {
    this.forget();
    if (value === null) this.#sql.exec("DELETE FROM settings WHERE name = ?", name);
    else {
      const json = JSON.stringify(value);
      this.#sql.exec("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, json);
    }
  }

  #read(): Partial<StoredSettings & { deleted: true }> {
    if (this.#values !== undefined) return this.#values;
    const rows = this.#sql.exec("SELECT name, value FROM settings").raw<[string, string]>();
    const entries = Array.from(rows, ([name, json]) => [name, JSON.parse(json)] as const);
    return (this.#values = Object.fromEntries(entries));
  }
}
