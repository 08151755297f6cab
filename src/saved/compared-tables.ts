/**
 * What is compared in a database of each kind.
 *
 * Some databases keep things that people know by other names than rows: keys of buckets, of KV and of R2,
 * cache entries, records of zones, the key-value storage of Durable Objects. All other tables are compared
 * by row. Versions and times of writing are left out: what was written again is the same.
 */
import {
  quoted,
  type ComparedRows,
  type DatabasePair,
  type Row,
  type RowChange,
} from "./table-difference.ts";

/** Of keys and records, and of the rows of each table of a script. */
const keysNamedMax = 1000;
const rowsNamedMax = 20;

/** Of SQLite, workerd and Miniflare. The last keeps the names of Durable Objects. */
const internalTables = ["sqlite_*", "_cf_*", "_mf_*", "__miniflare_*"];
const isOfScript = internalTables.map((pattern) => `tbl_name NOT GLOB '${pattern}'`).join(" AND ");

/** Compares two values by the names of their files. */
export type CompareValues = (before: string, after: string) => boolean;

export const bucketTables: readonly ComparedRows[] = [
  keys("objects", "key", "key", {
    // The version is first, the time of the upload fourth (`store/core/object.ts`).
    fields: "json_remove(fields, '$[3]', '$[0]')",
    metadata: "metadata",
  }),
  keys("uploads", "upload_id", "upload", same("state")),
  keys("settings", "name", "setting", same("value")),
];

export const r2Tables: readonly ComparedRows[] = [
  keys(
    "_mf_objects",
    "key",
    "key",
    same("size", "etag", "checksums", "http_metadata", "custom_metadata"),
  ),
  keys("_mf_multipart_uploads", "upload_id", "upload", same("state")),
];

/** Of a namespace of KV, and of a cache, whose keys are URLs. */
export function entryTable(isSameValue: CompareValues): ComparedRows {
  return {
    ...keys("_mf_entries", "key", "key", same("expiration", "metadata", "blob_id")),
    isSame: (before, after) =>
      before["expiration"] === after["expiration"] &&
      before["metadata"] === after["metadata"] &&
      isSameValue(String(before["blob_id"]), String(after["blob_id"])),
  };
}

export function zoneTables(zoneName: string): readonly ComparedRows[] {
  const relative = (name: string): string =>
    name === zoneName
      ? "@"
      : name.endsWith(`.${zoneName}`)
        ? name.slice(0, -zoneName.length - 1)
        : name;
  return [
    {
      table: "records",
      columns: same(
        "name",
        "type",
        "content",
        "priority",
        "ttl",
        "proxied",
        "comment",
        "tags",
        "settings",
      ),
      keyCount: 4,
      what: ({ name, type, priority, content }) =>
        [relative(String(name)), type, priority, content].filter((part) => part !== null).join(" "),
      namedMax: keysNamedMax,
      noun: "record",
    },
    {
      ...keys("facts", "name", "setting", same("value")),
      what: ({ name }) =>
        factNames[String(name)] ?? `setting ${String(name).replace("setting ", "")}`,
      only: "name <> 'serial'",
    },
  ];
}

const factNames: Readonly<Record<string, string>> = { seed: "the zone", dnssec: "DNSSEC" };

/** The alarms of the objects of a class. The name of an object is known if the object has one. */
export const alarmTable: ComparedRows = {
  ...keys("_cf_ALARM", "actor_id", "alarm", same("scheduled_time", "actor_name")),
  columns: {
    name: "coalesce(actor_name, substr(actor_id, 1, 8))",
    ...same("actor_id", "scheduled_time"),
  },
  keyCount: 2,
  what: ({ name }) => String(name),
};

const objectKeys = keys("_cf_KV", "key", "key", same("value"));

/** Of a database with tables of a script: D1 and Durable Objects. */
export function* scriptChanges(pair: DatabasePair): Generator<RowChange> {
  yield* pair.changes(objectKeys);
  yield* pair.changes({
    table: "sqlite_schema",
    columns: same("type", "name", "sql"),
    keyCount: 2,
    // An index without SQL belongs to a constraint of its table, a shadow table to a virtual table.
    only:
      `sql IS NOT NULL AND ${isOfScript} AND ` +
      "tbl_name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')",
    what: ({ type, name }) => `${String(type)} ${String(name)}`,
    namedMax: keysNamedMax,
    noun: "definition",
  });
  for (const table of commonTables(pair)) yield* pair.changes(table);
}

/** The tables that both databases have, by the columns that both have. */
function commonTables(pair: DatabasePair): ComparedRows[] {
  const tables = pair.all<{ name: string }>(
    `SELECT b.name FROM pragma_table_list b JOIN pragma_table_list a ON a.name = b.name
     WHERE b.schema = 'before' AND a.schema = 'after' AND b.type IN ('table', 'virtual') AND a.type = b.type
       AND ${isOfScript.replaceAll("tbl_name", "b.name")} ORDER BY b.name`,
  );
  return tables.map(({ name }) => {
    const columns = pair.all<{ name: string; pk: number }>(
      `SELECT a.name, a.pk FROM pragma_table_info(?, 'after') a
       JOIN pragma_table_info(?, 'before') b ON a.name = b.name ORDER BY a.pk = 0, a.pk, a.cid`,
      name,
      name,
    );
    const keyNames = columns.filter(({ pk }) => pk > 0).map((column) => column.name);
    const values = same(...columns.map((column) => column.name));
    return {
      table: name,
      columns: keyNames.length > 0 ? values : { rowid: "_rowid_", ...values },
      keyCount: Math.max(keyNames.length, 1),
      what: (row: Row) =>
        `table ${name}: row ${keyText(row, keyNames.length > 0 ? keyNames : ["rowid"])}`,
      namedMax: rowsNamedMax,
      noun: "row",
      place: `table ${name}: `,
    };
  });
}

function keyText(row: Row, names: readonly string[]): string {
  const parts = names.map((name) => {
    const value = row[name];
    return value instanceof Uint8Array ? `x'${Buffer.from(value).toString("hex")}'` : String(value);
  });
  const text = parts.join(", ");
  return parts.length === 1 ? text : `(${text})`;
}

function keys(
  table: string,
  key: string,
  noun: string,
  values: ComparedRows["columns"],
): ComparedRows {
  const columns = { ...same(key), ...values };
  const what = (row: Row): string => `${noun} ${String(row[key])}`;
  return { table, columns, keyCount: 1, what, namedMax: keysNamedMax, noun };
}

function same(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, quoted(name)]));
}
