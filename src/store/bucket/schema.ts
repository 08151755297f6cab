/**
 * The bucket's tables.
 *
 * `objects` is keyed by the key itself (`WITHOUT ROWID`), so a listing is a walk along the
 * primary key; what makes rows long, the content, stays out of it. What is known of an object is
 * text that nobody takes apart in here (`core/object-text.ts`).
 *
 * Content up to the inline limit is in `bodies`, and `body` is its id; but for a short `tail` that
 * would not fit a page (`core/body-split.ts`). Larger content is in files, and so may be what was
 * uploaded in parts: then there are `segments` instead. `blobs` names every file that some row
 * refers to: a file that is not in it is garbage.
 *
 * Text compares by its UTF-8 bytes (SQLite's BINARY collation), which is the order of keys.
 */
const statements = [
  `CREATE TABLE format (version INTEGER NOT NULL PRIMARY KEY) STRICT`,
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
    storage_class TEXT NOT NULL,
    http TEXT NOT NULL,
    custom TEXT NOT NULL
  ) WITHOUT ROWID, STRICT`,
  // The next deadline, and all that have passed.
  `CREATE INDEX uploads_by_since ON uploads (since)`,
  // Listings of uploads.
  `CREATE INDEX uploads_by_key ON uploads (key, since, upload_id)
    WHERE state = 'in progress'`,
  `CREATE TABLE parts (
    upload_id TEXT NOT NULL,
    part_number INTEGER NOT NULL,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    place ANY NOT NULL,
    PRIMARY KEY (upload_id, part_number)
  ) WITHOUT ROWID, STRICT`,
];

/** Counts up whenever a table changes; `migration.ts` knows the way from the ones before. */
export const formatVersion = 2;

/** @param sql a database without any of the tables */
export function createTables(sql: Pick<SqlStorage, "exec">): void {
  for (const statement of statements) sql.exec(statement);
  sql.exec(`INSERT INTO format (version) VALUES (${formatVersion})`);
}

/** Whether nothing is stored: no row in any table, and no table but ours. */
export function isEmpty(sql: SqlStorage): boolean {
  const { used } = sql
    .exec<{ used: number }>(
      `SELECT EXISTS (SELECT 1 FROM objects) OR EXISTS (SELECT 1 FROM bodies)
        OR EXISTS (SELECT 1 FROM blobs) OR EXISTS (SELECT 1 FROM uploads)
        OR EXISTS (SELECT 1 FROM parts)
        OR EXISTS (
          SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*'
            AND name NOT IN ('format', 'objects', 'bodies', 'blobs', 'uploads', 'parts')
        ) AS used`,
    )
    .one();
  return used === 0;
}
