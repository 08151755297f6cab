import { outcomeTable } from "../../src/state/outcomes.ts";

/**
 * The tables of one zone. Each order and each filter that an index can serve has an index.
 * `_folded` columns are lower case, because text filters ignore case. `content_plain` is the text
 * of a TXT record without quotation marks. `type_counts` replaces counting rows for the total of a
 * page. `facts` is the table of `zone-state.ts`.
 */
export const zoneTables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS records (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    priority INTEGER,
    ttl INTEGER NOT NULL,
    proxied INTEGER NOT NULL,
    comment TEXT,
    tags TEXT NOT NULL,
    settings TEXT NOT NULL,
    created_on TEXT NOT NULL,
    modified_on TEXT NOT NULL,
    content_folded TEXT NOT NULL,
    content_plain TEXT,
    comment_folded TEXT
  )`,
  `CREATE INDEX IF NOT EXISTS records_by_name ON records (name, type)`,
  `CREATE INDEX IF NOT EXISTS records_by_type ON records (type, name)`,
  `CREATE INDEX IF NOT EXISTS records_by_content ON records (content_folded)`,
  `CREATE INDEX IF NOT EXISTS records_by_plain ON records (content_plain)
    WHERE content_plain IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS records_by_comment ON records (comment_folded)
    WHERE comment_folded IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS records_by_ttl ON records (ttl)`,
  `CREATE INDEX IF NOT EXISTS records_by_proxied ON records (proxied)`,
  `CREATE TABLE IF NOT EXISTS record_tags (
    name TEXT NOT NULL, value TEXT NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (name, value, seq)
  ) WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS record_tags_by_record ON record_tags (seq)`,
  `CREATE TABLE IF NOT EXISTS type_counts (type TEXT PRIMARY KEY, count INTEGER NOT NULL)
    WITHOUT ROWID`,
  `CREATE TRIGGER IF NOT EXISTS records_counted AFTER INSERT ON records BEGIN
    INSERT INTO type_counts VALUES (new.type, 1) ON CONFLICT DO UPDATE SET count = count + 1;
  END`,
  `CREATE TRIGGER IF NOT EXISTS records_discounted AFTER DELETE ON records BEGIN
    UPDATE type_counts SET count = count - 1 WHERE type = old.type;
  END`,
  `CREATE TRIGGER IF NOT EXISTS records_recounted AFTER UPDATE OF type ON records BEGIN
    UPDATE type_counts SET count = count - 1 WHERE type = old.type;
    INSERT INTO type_counts VALUES (new.type, 1) ON CONFLICT DO UPDATE SET count = count + 1;
  END`,
  `CREATE TABLE IF NOT EXISTS changes (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    serial INTEGER NOT NULL,
    action TEXT NOT NULL,
    record TEXT NOT NULL
  )`,
  outcomeTable,
];
