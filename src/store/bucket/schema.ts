/**
 * The bucket's tables.
 *
 * `objects` is keyed by the key itself (`WITHOUT ROWID`), so a listing is a walk along the
 * primary key; what makes rows long, the content, stays out of it. Content up to the inline limit
 * is in `bodies`, found by its rowid. Larger content is in files, and `blobs` names every file
 * that some row refers to: a file that is not in it is garbage.
 *
 * Text compares by its UTF-8 bytes (SQLite's BINARY collation), which is the order of keys.
 */
const statements = [
  `CREATE TABLE IF NOT EXISTS objects (
    key TEXT NOT NULL PRIMARY KEY,
    version TEXT NOT NULL,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    uploaded INTEGER NOT NULL,
    checksums TEXT NOT NULL,
    storage_class TEXT NOT NULL,
    http TEXT NOT NULL,
    custom TEXT NOT NULL,
    segments TEXT NOT NULL
  ) WITHOUT ROWID, STRICT`,
  `CREATE TABLE IF NOT EXISTS bodies (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT`,
  `CREATE TABLE IF NOT EXISTS blobs (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID, STRICT`,
  `CREATE TABLE IF NOT EXISTS uploads (
    upload_id TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL,
    state TEXT NOT NULL,
    since INTEGER NOT NULL,
    storage_class TEXT NOT NULL,
    http TEXT NOT NULL,
    custom TEXT NOT NULL
  ) WITHOUT ROWID, STRICT`,
  // The next deadline, and all that have passed.
  `CREATE INDEX IF NOT EXISTS uploads_by_since ON uploads (since)`,
  // Listings of uploads.
  `CREATE INDEX IF NOT EXISTS uploads_by_key ON uploads (key, since, upload_id)
    WHERE state = 'in progress'`,
  `CREATE TABLE IF NOT EXISTS parts (
    upload_id TEXT NOT NULL,
    part_number INTEGER NOT NULL,
    size INTEGER NOT NULL,
    etag TEXT NOT NULL,
    place ANY NOT NULL,
    PRIMARY KEY (upload_id, part_number)
  ) WITHOUT ROWID, STRICT`,
];

export function createTables(sql: SqlStorage): void {
  for (const statement of statements) sql.exec(statement);
}
