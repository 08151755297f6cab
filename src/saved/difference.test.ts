import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { databasePath } from "../store/node/store-files.ts";
import { describeDifference, diffStates, placeNames } from "./difference.ts";
import type { ReadableState } from "./readable-state.ts";

interface Files {
  /** Statements of SQL by the paths of databases. */
  readonly databases?: Readonly<Record<string, string>>;
  /** Texts by the paths of values. */
  readonly values?: Readonly<Record<string, string>>;
}

/** A state in a folder of its own. */
function state({ databases = {}, values = {} }: Files): ReadableState {
  const folder = temporaryFolder(values);
  const opened: DatabaseSync[] = [];
  const paths = Object.keys(databases);
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const database = new DatabaseSync(join(folder, path));
    database.exec(databases[path] ?? "");
    database.close();
  }
  return {
    databases: paths,
    values: new Map(Object.entries(values).map(([path, text]) => [path, text.length])),
    identityOf: () => null,
    openDatabase: (path) => {
      const database = new DatabaseSync(join(folder, path), { readOnly: true });
      opened.push(database);
      return database;
    },
    hasSameDatabase: () => false,
    valuePath: (path) => join(folder, path),
    close: () => opened.forEach((database) => database.close()),
  };
}

function differences(from: Files, to: Files, names?: ReadonlyMap<string, string>): string[] {
  const [before, after] = [state(from), state(to)];
  try {
    return describeDifference(diffStates(before, after, names));
  } finally {
    before.close();
    after.close();
  }
}

const id = "4fea589dffe569f8ba071ec87ac0160124823fb6b357717ae164e87fbe3b243a";
const d1 = `d1/miniflare-D1DatabaseObject/${id}.sqlite`;
const d1Names = new Map([["db", "shop"]]);

function tableDifferences(before: string, after: string): string[] {
  return differences({ databases: { [d1]: before } }, { databases: { [d1]: after } }, d1Names);
}

describe("diffStates() of tables", () => {
  const users = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);";

  it.each([
    ["", ""],
    [`${users} INSERT INTO users VALUES (1, 'a')`, `${users} INSERT INTO users VALUES (1, 'a')`],
    ["CREATE TABLE _cf_METADATA (key INTEGER PRIMARY KEY, value)", ""],
    [
      "CREATE TABLE _mf_entries (key TEXT PRIMARY KEY)",
      "CREATE TABLE __miniflare_do_name (id, name)",
    ],
  ])("finds nothing between %j and %j", (before, after) => {
    expect(tableDifferences(before, after)).toEqual([]);
  });

  it.each([
    [
      "rows by their primary key",
      `${users} INSERT INTO users VALUES (1, 'a'), (2, 'b')`,
      `${users} INSERT INTO users VALUES (2, 'c'), (3, 'd')`,
      ["table users: row 1 removed", "table users: row 3 added", "table users: row 2 changed"],
    ],
    [
      "rows without a primary key by their rowid, and a value that becomes NULL",
      "CREATE TABLE t (v); INSERT INTO t VALUES (1)",
      "CREATE TABLE t (v); INSERT INTO t VALUES (NULL), (2)",
      ["table t: row 2 added", "table t: row 1 changed"],
    ],
    [
      "rows by a key of several columns, of which one is binary",
      "CREATE TABLE t (a TEXT, b BLOB, c, PRIMARY KEY (b, a)) WITHOUT ROWID",
      `CREATE TABLE t (a TEXT, b BLOB, c, PRIMARY KEY (b, a)) WITHOUT ROWID;
       INSERT INTO t VALUES ('x', x'00ff', 1)`,
      ["table t: row (x'00ff', x) added"],
    ],
    [
      "large numbers",
      "CREATE TABLE t (id INTEGER PRIMARY KEY)",
      "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (9223372036854775807)",
      ["table t: row 9223372036854775807 added"],
    ],
    [
      "tables, indexes and views",
      `${users} CREATE INDEX by_name ON users (name); CREATE TABLE old (id)`,
      `${users} CREATE VIEW names AS SELECT name FROM users; CREATE TABLE "a ""b" (id UNIQUE)`,
      ["index by_name removed", "table old removed", "view names added", 'table a "b added'],
    ],
    [
      "a column that is new, and rows by the others",
      `${users} INSERT INTO users VALUES (1, 'a')`,
      `${users} INSERT INTO users VALUES (1, 'b'); ALTER TABLE users ADD COLUMN age`,
      ["table users changed", "table users: row 1 changed"],
    ],
    [
      "a new table for the search of text, without its shadow tables",
      "",
      "CREATE VIRTUAL TABLE docs USING fts5(text)",
      ["table docs added"],
    ],
    [
      "rows of a table for the search of text, without its shadow tables",
      "CREATE VIRTUAL TABLE docs USING fts5(text)",
      "CREATE VIRTUAL TABLE docs USING fts5(text); INSERT INTO docs VALUES ('hello')",
      ["table docs: row 1 added"],
    ],
  ])("names %s", (_, before, after, expected) => {
    expect(tableDifferences(before, after).sort()).toEqual(
      expected.map((line) => `D1 shop: ${line}`).sort(),
    );
  });

  it("names 20 rows of a table, and counts the others", () => {
    const many = `${users} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500)
      INSERT INTO users SELECT i, 'x' FROM n`;
    const lines = tableDifferences(`${users} INSERT INTO users VALUES (1000, 'y')`, many);
    expect(lines).toHaveLength(21);
    expect(lines.slice(0, 2)).toEqual([
      "D1 shop: table users: row 1000 removed",
      "D1 shop: table users: row 1 added",
    ]);
    expect(lines.at(-1)).toBe("D1 shop: table users: and 481 more rows added");
  });

  it("names a database by its id if no name leads to it, and compares those of other plugins", () => {
    const table = "CREATE TABLE t (v)";
    const other = `workflows/engine/${id}.sqlite`;
    expect(differences({}, { databases: { [d1]: table, [other]: table } })).toEqual([
      "D1 4fea589d: table t added",
      "other workflows/engine 4fea589d: table t added",
    ]);
  });
});

describe("diffStates() of Durable Objects", () => {
  const object = `do/my-script-Counter/${id}.sqlite`;
  const storage = `CREATE TABLE __miniflare_do_name (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO __miniflare_do_name VALUES (1, 'lobby');
    CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;`;

  it("names keys of the storage, tables and alarms", () => {
    const metadata = "do/my-script-Counter/metadata.sqlite";
    const alarms =
      "CREATE TABLE _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER, actor_name TEXT);";
    expect(
      differences(
        {
          databases: {
            [object]: `${storage} INSERT INTO _cf_KV VALUES ('n', x'01')`,
            [metadata]: alarms,
          },
        },
        {
          databases: {
            [object]: `${storage} INSERT INTO _cf_KV VALUES ('n', x'02'); CREATE TABLE t (v)`,
            [metadata]: `${alarms} INSERT INTO _cf_ALARM VALUES ('${id}', 5, NULL), ('b', 5, 'lobby')`,
          },
        },
      ),
    ).toEqual([
      "Durable Object Counter lobby: key n changed",
      "Durable Object Counter lobby: table t added",
      "Durable Object Counter 4fea589d: alarm added",
      "Durable Object Counter lobby: alarm added",
    ]);
  });
});

function entries(rows: string): string {
  return `CREATE TABLE _mf_entries (key TEXT PRIMARY KEY, blob_id TEXT, expiration INTEGER, metadata TEXT);
     INSERT INTO _mf_entries VALUES ${rows}`;
}

describe("diffStates() of keys", () => {
  const kv =
    "kv/miniflare-KVNamespaceObject/8e2fd0c8cb293336e2f337f5e640dc8030b17a02425b467fcd48f342cecf510f.sqlite";
  it("takes a value of KV that was written again as the same", () => {
    expect(
      differences(
        {
          databases: {
            [kv]: entries("('a', '1', NULL, NULL), ('b', '2', NULL, NULL), ('c', '3', 5, NULL)"),
          },
          values: { "kv/kv/blobs/1": "same", "kv/kv/blobs/2": "old", "kv/kv/blobs/3": "x" },
        },
        {
          databases: {
            [kv]: entries("('a', '4', NULL, NULL), ('b', '5', NULL, NULL), ('c', '3', 6, NULL)"),
          },
          values: { "kv/kv/blobs/4": "same", "kv/kv/blobs/5": "new", "kv/kv/blobs/3": "x" },
        },
        new Map([["kv", "SESSIONS"]]),
      ),
    ).toEqual(["KV SESSIONS: key b changed", "KV SESSIONS: key c changed"]);
  });

  it("takes an object of a bucket that was put again as the same, and names uploads and settings", () => {
    const bucket = databasePath("store", "photos");
    const tables = `CREATE TABLE objects (key TEXT PRIMARY KEY, fields TEXT, metadata TEXT) WITHOUT ROWID;
      CREATE TABLE uploads (upload_id TEXT PRIMARY KEY, key TEXT, state TEXT) WITHOUT ROWID;
      CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;`;
    const values = { "store/blobs/photos/x": "" };
    expect(
      differences(
        {
          databases: {
            [bucket]: `${tables} INSERT INTO objects VALUES ('a', '["v1",3,"e",100]', NULL),
              ('b', '["v2",3,"e",100]', NULL), ('c', '["v3",3,"e",100]', NULL)`,
          },
          values,
        },
        {
          databases: {
            [bucket]: `${tables} INSERT INTO objects VALUES ('a', '["v4",3,"e",200]', NULL),
              ('b', '["v2",3,"e",100]', '[{"contentType":"x"}]'), ('c', '["v5",3,"f",100]', NULL);
              INSERT INTO uploads VALUES ('1f', 'd', 'in progress');
              INSERT INTO settings VALUES ('cors', '[]')`,
          },
          values,
        },
      ),
    ).toEqual([
      "bucket photos: key b changed",
      "bucket photos: key c changed",
      "bucket photos: upload 1f added",
      "bucket photos: setting cors added",
    ]);
  });
});

it("diffStates() names records of zones as zone files do", () => {
  const zone = `dns/do/dns-ZoneObject/${id}.sqlite`;
  const tables = `CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
    INSERT INTO facts VALUES ('seed', '{"name":"example.com"}'), ('serial', '1');
    CREATE TABLE records (name, type, content, priority, ttl, proxied, comment, tags, settings);
    INSERT INTO records VALUES ('www.example.com', 'A', '192.0.2.1', NULL, 1, 0, NULL, '[]', '{}');`;
  expect(
    differences(
      { databases: { [zone]: tables } },
      {
        databases: {
          [zone]: `${tables} UPDATE facts SET value = 2 WHERE name = 'serial';
            UPDATE records SET ttl = 60;
            INSERT INTO facts VALUES ('dnssec', '{}'), ('setting ipv6', '{}');
            INSERT INTO records VALUES ('example.com', 'MX', 'mail.example.com', 10, 1, 0, NULL, '[]', '{}')`,
        },
      },
    ),
  ).toEqual([
    "zone example.com: @ MX 10 mail.example.com added",
    "zone example.com: www A 192.0.2.1 changed",
    "zone example.com: DNSSEC added",
    "zone example.com: setting ipv6 added",
  ]);
});

it("placeNames() leads from the ids of the configuration to names", () => {
  const names = placeNames({
    kv_namespaces: [{ binding: "SESSIONS", id: "0f2ac74b" }, { binding: "CACHE" }],
    d1_databases: [{ binding: "DB", database_id: "1-2-3", database_name: "shop" }],
    r2_buckets: [{ binding: "R2", bucket_name: "files" }],
  });
  expect(Object.fromEntries(names)).toEqual({
    "0f2ac74b": "SESSIONS",
    SESSIONS: "SESSIONS",
    CACHE: "CACHE",
    "1-2-3": "shop",
    DB: "shop",
    files: "files",
    R2: "files",
  });
});
