/**
 * The tables of a bucket.
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
 * Rows have checksums, because SQLite does not notice a flipped bit in a page. `core/row-seal.ts`
 * says what they cover. The checksum stands before the columns that it covers: a row whose header
 * is damaged may seem to end early, and then it must not lose the checksum alone. A database of an
 * earlier format has rows without checksums, and says so in `has_unsealed_rows`.
 *
 * `since` of an upload in progress is the time from which its deadline counts: the time of its
 * creation, or an earlier time if a rule of the bucket says so. Rows of an earlier format have no
 * `created` and no `uploaded`.
 *
 * `database_id` names the database in the folder of the files (`garbage-collector.ts`).
 *
 * Text is compared by its UTF-8 bytes (SQLite's BINARY collation), which is the order of keys.
 */
import { outcomeTable } from "../../state/outcomes.ts";
import { formatVersion, StoreError } from "../core/errors.ts";
import { RowSeals } from "../core/row-seal.ts";
import type { AbortRule } from "../core/multipart.ts";
import type { Request, StoredSettings } from "../core/operations.ts";

/** Since format 3 (`state/outcomes.ts`). */
export const requestStatements = [outcomeTable];

/** Since format 4 (`settings-table.ts`). */
export const settingsStatements = [
  `CREATE TABLE settings (
    name TEXT NOT NULL PRIMARY KEY,
    checksum INTEGER NOT NULL,
    value TEXT NOT NULL
  ) WITHOUT ROWID, STRICT`,
];

/** Since format 6 (`contents.ts`). */
export const releasedStatements = [
  `CREATE TABLE released (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID, STRICT`,
];

const statements = [
  `CREATE TABLE format (
    version INTEGER NOT NULL PRIMARY KEY,
    database_id TEXT,
    has_unsealed_rows INTEGER
  ) STRICT`,
  `CREATE TABLE objects (
    key TEXT NOT NULL PRIMARY KEY,
    item_checksum INTEGER,
    content_checksum INTEGER,
    checksum INTEGER,
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
    checksum INTEGER,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    storage_class TEXT NOT NULL,
    http TEXT NOT NULL,
    custom TEXT NOT NULL,
    created INTEGER,
    checksum_algorithm TEXT,
    checksum_type TEXT,
    ssec_key_md5 TEXT
  ) WITHOUT ROWID, STRICT`,
  // For the next deadline, and for those that have passed.
  `CREATE INDEX uploads_by_since ON uploads (since)`,
  // For listings of uploads.
  `CREATE INDEX uploads_by_key ON uploads (key, since, upload_id)
    WHERE state = 'in progress'`,
  `CREATE TABLE parts (
    upload_id TEXT NOT NULL,
    part_number INTEGER NOT NULL,
    checksum INTEGER,
    content_checksum INTEGER,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    place ANY NOT NULL,
    uploaded INTEGER,
    checksums TEXT,
    PRIMARY KEY (upload_id, part_number)
  ) WITHOUT ROWID, STRICT`,
  ...requestStatements,
  ...settingsStatements,
  ...releasedStatements,
];

/** The tables whose rows a new database does not have. */
const names = ["objects", "bodies", "blobs", "uploads", "parts", "settings", "released"];

/** @param sql a database without any of the tables */
export function createTables(sql: Pick<SqlStorage, "exec">): void {
  for (const statement of statements) sql.exec(statement);
  sql.exec(
    "INSERT INTO format (version, database_id, has_unsealed_rows) " +
      `VALUES (${formatVersion}, ${newDatabaseId}, 0)`,
  );
}

/** An expression of SQL. */
export const newDatabaseId = "lower(hex(randomblob(8)))";

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
            AND name NOT IN ('format', 'requests', ${known})
        ) AS used`,
    )
    .one();
  return used === 0;
}

/** The checksums of rows. */
export const seals = new RowSeals(new TextEncoder());

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

/**
 * The settings of a bucket: rules that the S3-compatible interface has stored, and whether a request
 * has deleted the bucket. A checksum covers each row (`core/row-seal.ts`).
 *
 * The settings are read once, because every upload that is created needs them.
 */

/** `deleted` marks a bucket that a request has deleted. */
type SettingName = keyof StoredSettings | "deleted";

type Lifecycle = Required<StoredSettings>["lifecycle"];

export class SettingsTable {
  readonly #sql: SqlStorage;
  /** By name, as JSON; `null` for a damaged row. */
  #values: ReadonlyMap<string, string | null> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** @throws StoreError 10001 for a damaged setting */
  settings(): StoredSettings {
    const cors = this.#value<string>("cors");
    const lifecycle = this.#value<Lifecycle>("lifecycle");
    return { ...(cors !== null && { cors }), ...(lifecycle !== null && { lifecycle }) };
  }

  put({ cors, lifecycle }: Omit<Request<"putSettings">, "method">): void {
    if (cors !== undefined) this.#set("cors", cors);
    if (lifecycle !== undefined) this.#set("lifecycle", lifecycle);
  }

  /** None for a damaged setting: uploads then live as long as without a rule. */
  get abortRules(): readonly AbortRule[] {
    const json = this.#read().get("lifecycle" satisfies SettingName);
    return json == null ? [] : (JSON.parse(json) as Lifecycle).abortRules;
  }

  get isDeleted(): boolean {
    return this.#read().has("deleted" satisfies SettingName);
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
    if (value === null) {
      this.#sql.exec("DELETE FROM settings WHERE name = ?", name);
      return;
    }
    const columns = [name, JSON.stringify(value)];
    this.#sql.exec(
      "INSERT OR REPLACE INTO settings (name, value, checksum) VALUES (?, ?, ?)",
      ...columns,
      seals.sealColumns(columns),
    );
  }

  /** `null` for a setting that does not exist. */
  #value<Value>(name: keyof StoredSettings): Value | null {
    const json = this.#read().get(name);
    if (json === undefined) return null;
    if (json !== null) return JSON.parse(json) as Value;
    throw new StoreError(
      10001,
      `Cannot read the ${name} rules of the bucket: their row in the database does not match the ` +
        "row's checksum. Put the rules again, or delete them.",
    );
  }

  #read(): ReadonlyMap<string, string | null> {
    if (this.#values !== undefined) return this.#values;
    const rows = this.#sql.exec("SELECT name, value, checksum FROM settings");
    return (this.#values = new Map(
      Array.from(rows.raw<[string, string, number]>(), ([name, value, checksum]) => {
        const isIntact = seals.sealColumns([name, value]) === checksum;
        if (!isIntact) console.warn(`The setting "${name}" of a bucket is damaged: put it again.`);
        return [name, isIntact ? value : null];
      }),
    ));
  }
}
